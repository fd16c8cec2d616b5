"""The dashboard as a person uses it: real nodes, a real browser."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.helpers.calibration import Watch
from tests.helpers.processes import Process, Processes
from tests.helpers.recordings import belief_item, info_item, pendulum_states, state_items, write_ours
from tests.helpers.ros import Graph
from tests.helpers.small_model import export_small_model

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
        self.page.on("console", lambda m: self.complaints.extend([m.text] * (m.type == "error")))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda r: self.foreign.extend([r.url] * (not r.url.startswith(url))))
        self.page.goto(url)

    def has(self, selector: str, text: str | re.Pattern[str]) -> None:
        expect(self.page.locator(selector)).to_have_text(text, timeout=PATIENCE)

    def number(self, selector: str) -> float:
        return float(self.page.locator(selector).inner_text())

    def picture(self) -> str:
        return str(self.page.evaluate("document.getElementById('scene').toDataURL()"))

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
    Watch(graph, "robot1").bring_up("calibrator")
    watched.has("#nodes tr:has(th:text-is('calibrator')) .chip", "active")
    watched.has("#status", "prior")

    # Start by clicking: the pendulum moves, entropy falls, the quadrants become known.
    prior_entropy, first_picture = watched.number("#entropy"), watched.picture()
    page.get_by_label("Transitions").fill("12")
    page.get_by_label("Scheme").select_option("mpc")
    page.get_by_role("button", name="Start").click()
    watched.has("#status", "calibrating")
    page.wait_for_function(
        "before => document.getElementById('scene').toDataURL() !== before", arg=first_picture
    )
    second_picture = watched.picture()
    watched.has("#status", "calibrated")
    watched.has("#transitions", "12")
    watched.has("#goal", re.compile("^succeeded: 12 transitions"))
    assert watched.picture() != second_picture
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
    used, began, step = cpu_seconds(dashboard.pid), time.monotonic(), watched.number("#transitions")
    page.wait_for_timeout(3000)
    used, seconds = cpu_seconds(dashboard.pid) - used, time.monotonic() - began
    # In lockstep the plant runs as fast as the planner allows; the promise is for 20 states per second.
    rate = (watched.number("#transitions") - step) / seconds
    share = used / seconds * min(1.0, 20.0 / max(rate, 1e-9))
    page.keyboard.press("c")
    watched.has("#status", "cancelled")
    assert share < 0.10, f"the dashboard used {100 * share:.1f} % of a core"
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
    watched.close()
    assert dashboard.stop(signal.SIGINT) == 0 and "Traceback" not in dashboard.output


def test_a_recording_is_replayed_on_the_same_page(
    processes: Processes, browser: Browser, tmp_path: Path
) -> None:
    states = list(state_items(pendulum_states(2, 40), "/robot1"))
    beliefs = [
        belief_item(k, 3.0 - 0.1 * k, 2 if k == 40 else 1, "/robot1", k * 100_000_000 + 1) for k in range(41)
    ]
    items = sorted([info_item(namespace="/robot1"), *states, *beliefs], key=lambda entry: entry.time)
    write_ours(tmp_path / "run.mcap", items)
    arguments = ("replay", str(tmp_path / "run.mcap"), "--port", "0", "--paused", "--speed", "4")
    replay = processes.start(sys.executable, "-m", "explore_context.cli", *arguments)
    url = re.findall(r"http://\S+", replay.wait_for_output("Ctrl-C"))[0]
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
    assert replay.stop(signal.SIGINT) == 0 and "Traceback" not in replay.output
