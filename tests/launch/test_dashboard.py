"""The dashboard as a person uses it: real nodes, a real browser."""

from __future__ import annotations

import math
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.helpers.calibration import Watch
from tests.helpers.processes import Process, Processes
from tests.helpers.recordings import (
    PERIOD,
    Item,
    belief_item,
    info_item,
    item,
    pendulum_states,
    state_items,
    write_ours,
)
from tests.helpers.ros import Graph
from tests.helpers.small_model import export_small_model

from explore_context.nodes.samples import StateSample
from explore_context.plants import get_plant
from explore_context.recording.reader import INFO

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

PACKAGE = "explore_context"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000  # ms
SOCKET_DOWN = re.compile("WebSocket connection to .* failed|ERR_CONNECTION_REFUSED")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


class Watched:
    """A page, and everything that it complained of or asked for."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.page: Page = browser.new_page(viewport={"width": 1280, "height": 900})
        self.page.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.foreign: list[str] = []
        self.updates = 0
        self.page.on("console", lambda m: self.complaints.extend([m.text] * (m.type == "error")))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda r: self.foreign.extend([r.url] * (not r.url.startswith(url))))
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._count))
        self.page.goto(url)

    def _count(self, _frame: object) -> None:
        self.updates += 1

    def has(self, selector: str, text: str | re.Pattern[str]) -> None:
        expect(self.page.locator(selector)).to_have_text(text, timeout=PATIENCE)

    def number(self, selector: str) -> float:
        return float(self.page.locator(selector).inner_text())

    def pose(self) -> str:
        """Of the system as it is drawn now: the pendulum's angle, for instance."""
        return self.page.locator("#scene").get_attribute("data-pose") or ""

    def comes_to_rest_at(self, *pose: float) -> None:
        self.page.wait_for_function(
            """wanted => {
                const pose = document.getElementById('scene').dataset.pose.split(' ').map(Number);
                return pose.length === wanted.length && pose.every((x, k) => Math.abs(x - wanted[k]) < 0.01);
            }""",
            arg=list(pose),
        )

    def close(self) -> None:
        """Nothing was asked of other hosts, and nothing went wrong but the connection that the test broke."""
        self.page.close()
        assert self.foreign == []
        assert [text for text in self.complaints if not SOCKET_DOWN.search(text)] == []


def start_dashboard(processes: Processes, port: int) -> tuple[Process, str]:
    dashboard = processes.run(PACKAGE, "dashboard", "-p", f"port:={port}", "-p", "control:=true")
    output = dashboard.wait_for_output("dashboard (with control)")
    return dashboard, re.findall(r"http://\S+", output)[0]


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_person_watches_and_steers_a_calibration(
    graph: Graph, processes: Processes, browser: Browser, tmp_path: Path
) -> None:
    model = export_small_model(tmp_path / "model")
    dashboard, url = start_dashboard(processes, 0)
    for namespace in ("/robot1", "/robot2"):
        processes.run(
            PACKAGE, "pendulum_plant", "-r", f"__ns:={namespace}", "-p", "publish_hidden_context:=true"
        )
    parameters = ("-p", f"model:={model.folder}", "-p", "threads:=1")
    processes.run(PACKAGE, "calibrator", "-r", "__ns:=/robot1", *parameters)
    watched = Watched(browser, url)
    page = watched.page
    watched.has("#connection", "connected")
    watched.has("#tabs", re.compile("robot1.*robot2"))
    page.get_by_role("tab", name="robot1").click()
    robot = Watch(graph, "robot1")
    robot.bring_up("calibrator")
    watched.has("#nodes tr:has(th:text-is('calibrator')) .chip", "active")
    watched.has("#status", "prior")

    # Start by clicking: the pendulum moves, entropy falls, the quadrants become known.
    prior_entropy, first_pose = watched.number("#entropy"), watched.pose()
    assert re.fullmatch(r"-?\d\.\d{3}", first_pose)
    page.get_by_label("Transitions").fill("12")
    page.get_by_label("Scheme").select_option("mpc")
    page.get_by_role("button", name="Start").click()
    watched.has("#status", "calibrating")
    expect(page.locator("#scene")).not_to_have_attribute("data-pose", first_pose)
    watched.has("#status", "calibrated")
    watched.has("#transitions", "12")
    watched.has("#goal", re.compile("^succeeded: 12 transitions"))
    graph.spin_until(lambda: robot.states and robot.states[-1].step == 12, what="the last state")
    cos, sin, _ = robot.states[-1].observation
    watched.comes_to_rest_at(math.atan2(sin, cos))
    assert watched.number("#entropy") < prior_entropy and watched.number("#gained") > 0
    expect(page.locator("#scene-legend")).to_have_text(re.compile("[1-4] of 4 quadrants explored"))
    page.get_by_role("tab", name="robot2").click()
    watched.has("#status", "no belief")
    page.get_by_role("tab", name="robot2").press("ArrowLeft")
    watched.has("#status", "calibrated")

    # By keyboard: another system, a long calibration, cancelled.
    session = page.locator("#session-note").inner_text()
    page.locator("main").focus()
    page.keyboard.press("n")
    expect(page.locator("#session-note")).not_to_have_text(session)
    watched.has("#status", "stale")
    page.get_by_label("Transitions").fill("3000")
    page.locator("main").focus()
    page.keyboard.press("s")
    watched.has("#status", "calibrating")
    expect(page.locator("#start")).to_be_disabled()
    watched.has("#transitions", re.compile(r"^\d{2,}$"))
    page.keyboard.press("c")
    watched.has("#status", "cancelled")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")

    # On a phone, in the dark, without motion.
    page.set_viewport_size({"width": 375, "height": 740})
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 27)"

    # The page survives its server.
    assert dashboard.stop(signal.SIGKILL) == -signal.SIGKILL
    watched.has("#connection", "disconnected")
    dashboard, again = start_dashboard(processes, int(url.rstrip("/").rpartition(":")[2]))
    assert again == url
    watched.has("#connection", "connected")
    watched.has("#status", "cancelled")  # the belief is latched
    watched.has("#scene-legend", re.compile("^coverage not seen: [0-9]+ transitions before this view began"))
    watched.close()
    assert dashboard.stop(signal.SIGINT) == 0 and "Traceback" not in dashboard.output


def test_twenty_states_a_second_cost_less_than_a_tenth_of_a_core(
    processes: Processes, browser: Browser
) -> None:
    dashboard, url = start_dashboard(processes, 0)
    processes.run(PACKAGE, "pendulum_plant", "-p", "mode:=realtime", "-p", "period:=0.05")
    watched = Watched(browser, url)
    watched.has("#rollout", re.compile(r"step \d{2,}"))
    used, began, updates = cpu_seconds(dashboard.pid), time.monotonic(), watched.updates
    watched.page.wait_for_timeout(6000)
    seconds = time.monotonic() - began
    share, rate = (cpu_seconds(dashboard.pid) - used) / seconds, (watched.updates - updates) / seconds
    watched.close()
    assert 15 < rate < 25, f"{rate:.1f} updates per second"
    assert share < 0.10, f"the dashboard used {100 * share:.1f} % of a core for {rate:.1f} updates per second"


def test_a_calibrator_that_dies_is_noticed(
    graph: Graph, processes: Processes, browser: Browser, tmp_path: Path
) -> None:
    model = export_small_model(tmp_path / "model")
    _, url = start_dashboard(processes, 0)
    processes.run(PACKAGE, "pendulum_plant")
    parameters = ("-p", f"model:={model.folder}", "-p", "threads:=1")
    calibrator = processes.run(PACKAGE, "calibrator", *parameters)
    robot, watched = Watch(graph), Watched(browser, url)
    page = watched.page
    page.set_default_timeout(2 * PATIENCE)  # DDS takes 20 s to miss a killed process
    robot.bring_up("calibrator")
    for restart in (False, True):
        watched.has("#status", "prior")
        page.get_by_label("Transitions").fill("5000")
        page.get_by_role("button", name="Start").click()
        watched.has("#goal", "running")
        watched.has("#transitions", re.compile(r"^\d{2,}$"))
        calibrator.stop(signal.SIGKILL)
        if not restart:
            expect(page.locator("#goal")).to_have_text(
                re.compile("^lost: the calibrator is gone"), timeout=60_000
            )
            expect(page.locator("#start")).to_be_enabled()
            watched.has("#status", "lost")
        calibrator = processes.run(PACKAGE, "calibrator", *parameters)
        robot.bring_up("calibrator")
    watched.has("#goal", re.compile("^lost: the calibrator was restarted"))
    expect(page.locator("#start")).to_be_enabled()
    watched.close()


def replay(processes: Processes, path: Path, *arguments: str) -> tuple[Process, str]:
    process = processes.start(
        sys.executable, "-m", "explore_context.cli", "replay", str(path), "--port", "0", *arguments
    )
    return process, re.findall(r"http://\S+", process.wait_for_output("Ctrl-C"))[0]


@pytest.mark.parametrize(
    ("name", "shows_truth", "legend"),
    [
        ("mountain_car", True, r"explored .* true terrain shown"),
        ("mountain_car", False, r"explored .* terrain as felt so far"),
        ("toy_inner", True, r"x1 and x2, true context"),
    ],
)
def test_every_system_is_drawn(
    processes: Processes, browser: Browser, tmp_path: Path, name: str, shows_truth: bool, legend: str
) -> None:
    items, last = plant_run(name, transitions=20, shows_truth=shows_truth)
    write_ours(tmp_path / "run.mcap", items)
    process, url = replay(processes, tmp_path / "run.mcap", "--speed", "4")
    watched = Watched(browser, url)
    watched.has("#transitions", "20")
    watched.comes_to_rest_at(*last)
    watched.has("#scene-legend", re.compile(legend))
    watched.close()
    assert process.stop(signal.SIGINT) == 0 and "Traceback" not in process.output


def plant_run(name: str, transitions: int, shows_truth: bool) -> tuple[list[Item], list[float]]:
    """A recorded calibration under random actions, and what of its last state is drawn."""
    plant, rng = get_plant(name), np.random.default_rng(4)
    context, state = plant.sample_context(rng, 1), plant.initial_state("calibration", rng, 1)
    samples = [StateSample("a" * 32, 0, 0, plant.observe(state)[0], np.empty(0))]
    for step in range(transitions):
        action = plant.sample_actions(rng, (1,))
        state = plant.step(state, action, context, rng)
        samples.append(StateSample("a" * 32, 0, step + 1, plant.observe(state)[0], action[0]))
    own = {
        "observation_names": list(plant.spec.observation_names),
        "action_low": np.array(plant.spec.action_low),
        "action_high": np.array(plant.spec.action_high),
        "hidden_context": context[0] if shows_truth else np.empty(0),
    }
    info = item("/plant_info", INFO, 0, **{**vars(info_item(plant=name).message), **own})
    beliefs = [belief_item(k, 3.0 - 0.1 * k, time=k * PERIOD + 1) for k in range(transitions + 1)]
    drawn = samples[-1].observation[: 1 if name == "mountain_car" else 2].tolist()
    return sorted([info, *state_items(samples), *beliefs], key=lambda entry: entry.time), drawn


def test_a_recording_is_replayed_on_the_same_page(
    processes: Processes, browser: Browser, tmp_path: Path
) -> None:
    states = list(state_items(pendulum_states(2, 40), "/robot1"))
    beliefs = [
        belief_item(k, 3.0 - 0.1 * k, 2 if k == 40 else 1, "/robot1", k * 100_000_000 + 1) for k in range(41)
    ]
    items = sorted([info_item(namespace="/robot1"), *states, *beliefs], key=lambda entry: entry.time)
    write_ours(tmp_path / "run.mcap", items)
    process, url = replay(processes, tmp_path / "run.mcap", "--paused", "--speed", "4")
    watched = Watched(browser, url)
    page = watched.page
    watched.has("#access", "replay")
    expect(page.locator("#control")).to_be_hidden()
    watched.has("#position-text", "0.0 of 4.0 s")
    page.get_by_role("button", name="Play").click()
    watched.has("#status", "calibrating")
    page.wait_for_function("() => parseFloat(document.getElementById('entropy').textContent) < 2")
    watched.has("#status", "calibrated")
    watched.has("#transitions", "40")
    watched.has("#play", "Play")  # stopped at the end
    page.get_by_label("Position").fill("1")
    watched.has("#transitions", re.compile("^(9|10)$"))
    watched.close()
    assert process.stop(signal.SIGINT) == 0 and "Traceback" not in process.output
