"""A launch with dashboard and recorder, as a user starts it, and one that goes on from its recording."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from urllib.request import urlopen

import pytest
from explore_context_interfaces.msg import ContextBelief
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from tests.helpers.calibration import quick_planner
from tests.helpers.processes import Processes

from explore_context.model import ContextModel
from explore_context.nodes.commander_parameters import model_folder
from explore_context.recording.calibrate import belief_from_bag
from explore_context.recording.reader import BELIEF, Recording, recording_facts

__all__ = ["quick_planner"]

pytestmark = pytest.mark.timeout(600)  # minutes only where the machine is overloaded

TRANSITIONS = 4


def run(processes: Processes, path: Path, planner: str, *arguments: str) -> str:
    """Launch, look at the page while it runs, wait for the end; returns what was printed."""
    launch = processes.launch(
        "explore_context",
        "pendulum_calibration.launch.py",
        *("dashboard:=true", "dashboard_port:=0", "record:=true", f"record_path:={path}"),
        *("exit_when_done:=true", f"transitions:={TRANSITIONS}", "scheme:=mpc", f"planner:={planner}"),
        *arguments,
    )
    output = launch.wait_for_output("dashboard (read-only)", 60.0)
    url = re.findall(r"dashboard \(read-only\): (http://[\d.:]+/)", output)[0]
    with urlopen(url, timeout=20.0) as page:
        assert page.status == 200 and b"<title>explore_context</title>" in page.read()
    assert launch.wait(300.0) == 0, launch.output
    assert "Traceback" not in launch.output, launch.output
    return launch.output


def decoded(path: Path) -> Counter[str]:
    """Messages by topic, every one decoded by both readers, from a file with its index."""
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        summary = reader.get_summary()
        assert summary is not None and summary.statistics is not None, "the recording was not closed"
        counts = Counter(channel.topic for _, channel, _, _ in reader.iter_decoded_messages())
        assert counts.total() == summary.statistics.message_count
    with AnyReader([path]) as other:
        again = Counter(c.topic for c, _, data in other.messages() if other.deserialize(data, c.msgtype))
    assert again == counts
    return counts


def last_belief(path: Path) -> ContextBelief:
    with Recording(path) as recording:
        return [item.message for item in recording.messages([BELIEF])][-1]


def test_a_recorded_run_and_one_that_goes_on_from_it(
    processes: Processes, quick_planner: str, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.mcap", tmp_path / "second.mcap"
    model = ContextModel.load(model_folder("pendulum"))

    output = run(processes, first, quick_planner)
    assert re.search(rf"transitions used +{TRANSITIONS} in 1 rollout", output), output
    counts = decoded(first)
    expected = {"/state", "/action", "/plant_info", "/context_belief", "/joint_states", "/diagnostics"}
    assert expected | {"/calibrator/calibrate/feedback", "/rosout"} <= set(counts)
    assert recording_facts(first)["model_hash"] == model.model_hash
    belief, published = belief_from_bag(first, model), last_belief(first)
    assert published.status == ContextBelief.CALIBRATED
    assert belief.transitions == published.number_of_transitions == TRANSITIONS
    assert belief.entropy == pytest.approx(published.entropy, abs=1e-6)

    output = run(processes, second, quick_planner, f"prior_bag:={first}")
    assert f"starting with {TRANSITIONS} transitions of {first}" in output
    decoded(second)
    continued = last_belief(second)
    assert continued.status == ContextBelief.CALIBRATED
    assert continued.number_of_transitions == 2 * TRANSITIONS
    assert continued.entropy < published.entropy
