"""The recorder on a real graph: the recording is the run, and the disk's troubles are nobody else's."""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from ament_index_python.packages import get_package_prefix
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from explore_context_interfaces.msg import ContextBelief, PlantState
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rclpy.qos import qos_profile_sensor_data
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from tests.helpers.calibration import DEACTIVATE, Scene, Watch
from tests.helpers.processes import Process, Processes
from tests.helpers.recordings import info_item, pendulum_states, state_items, write_ours
from tests.helpers.ros import Graph
from tests.helpers.small_model import export_small_model

from explore_context.nodes import qos
from explore_context.recording.calibrate import belief_from_bag
from explore_context.recording.reader import STATE, Recording, recording_facts
from explore_context.recording.recover import recover

TRANSITIONS = 8
PACKAGE = "explore_context"

pytestmark = pytest.mark.timeout(300)


def recorder_reports(graph: Graph) -> list[DiagnosticStatus]:
    """A list that grows with every report of the recorder."""
    reports: list[DiagnosticStatus] = []

    def take(array: DiagnosticArray) -> None:
        reports.extend(status for status in array.status if status.name == "recorder: recorder")

    graph.node.create_subscription(DiagnosticArray, "/diagnostics", take, 10)
    return reports


def value(status: DiagnosticStatus, key: str) -> str:
    return next((entry.value for entry in status.values if entry.key == key), "")


def assert_ended_well(process: Process) -> None:
    assert process.stop(signal.SIGINT) == 0
    assert "Traceback" not in process.output, process.output


def test_the_recording_is_the_run(graph: Graph, processes: Processes, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    model = export_small_model(tmp_path / "model")
    recorder = processes.run(PACKAGE, "recorder", "-p", f"path:={path}")
    recorder.wait_for_output("recording to")
    processes.run(PACKAGE, "pendulum_plant", "-p", "seed:=7")
    processes.run(PACKAGE, "calibrator", "-p", f"model:={model.folder}", "-p", "threads:=1")
    robot = Watch(graph)
    robot.bring_up("calibrator")
    ready = graph.collect(Bool, "recorder/ready", qos.LATCHED)
    graph.spin_until(lambda: ready, 30.0, "a recorder that hears plant and calibrator")
    assert ready[0].data
    _, result = robot.goal(transitions=TRANSITIONS, scheme="mpc", seed=1).wait()
    assert result.success and result.transitions == TRANSITIONS
    assert robot.change("calibrator", DEACTIVATE)  # a transition event after all have found each other
    reports = recorder_reports(graph)
    seen = len(reports)
    graph.spin_until(lambda: len(reports) > seen + 1, what="the last messages to be written")
    assert_ended_well(recorder)

    belief = belief_from_bag(path, model)
    assert belief.transitions == TRANSITIONS
    np.testing.assert_allclose(belief.mean, result.belief.mean, atol=1e-6, rtol=0)
    np.testing.assert_allclose(belief.std, result.belief.std, atol=1e-6, rtol=0)
    assert abs(belief.entropy - result.belief.entropy) < 1e-6

    facts = recording_facts(path)
    assert facts["model_hash"] == model.model_hash and facts["plant"] == "pendulum"
    assert facts["plant.seed"] == "7" and facts["version.explore_context"]

    counts = decoded_by_mcap(path)
    assert counts == decoded_by_rosbags(path)
    expected = {"/state", "/action", "/plant_info", "/context_belief", "/joint_states", "/diagnostics"}
    expected |= {"/calibrator/calibrate/feedback", "/calibrator/transition_event", "/rosout"}
    assert expected <= set(counts)
    assert counts["/context_belief"] >= TRANSITIONS + 2 and counts["/action"] >= TRANSITIONS


def test_a_best_effort_publisher_is_recorded_too(graph: Graph, processes: Processes, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    recorder = processes.run(PACKAGE, "recorder", "-p", f"path:={path}")
    recorder.wait_for_output("recording to")
    # Matched only by a subscription that asks for no more; the recorder had expected a reliable one.
    publisher = graph.publisher(JointState, "joint_states", qos_profile_sensor_data)
    publisher.publish(JointState(name=["hinge"], position=[1.0]))
    reports = recorder_reports(graph)
    graph.spin_until(lambda: len(reports) > 1, what="the message to be written")
    assert_ended_well(recorder)
    assert decoded_by_mcap(path)["/joint_states"] == 1


def test_a_live_calibration_starts_from_a_recording(graph: Graph, tmp_path: Path) -> None:
    model = export_small_model(tmp_path / "model")
    path = tmp_path / "run.mcap"
    write_ours(path, [info_item(), *state_items(pendulum_states(seed=3, transitions=20))])
    recorded = belief_from_bag(path, model)
    scene = Scene(graph)
    scene.calibrator(model=str(model.folder), prior_bag=str(path))
    _, result = scene.goal(transitions=3, scheme="random").wait()
    assert result.success and result.transitions == 3
    assert result.initial_entropy == pytest.approx(recorded.entropy, abs=1e-6) != model.prior.entropy
    assert result.belief.number_of_transitions == 23


def test_a_new_system_is_not_calibrated_from_the_old_ones_recording(graph: Graph, tmp_path: Path) -> None:
    model = export_small_model(tmp_path / "model")
    path = tmp_path / "run.mcap"
    write_ours(path, [info_item(), *state_items(pendulum_states(seed=3, transitions=20))])
    scene = Scene(graph)
    scene.calibrator(model=str(model.folder), prior_bag=str(path))
    assert scene.wait_for_status(ContextBelief.PRIOR).number_of_transitions == 20
    old = scene.infos[-1].session_id
    scene.reset(new_system=True)
    graph.spin_until(lambda: scene.beliefs[-1].session_id != old, what="the prior for the new system")
    assert scene.beliefs[-1].status == ContextBelief.PRIOR
    assert scene.beliefs[-1].number_of_transitions == 0 and scene.beliefs[-1].information_gained == 0.0
    _, result = scene.goal(transitions=3, scheme="random").wait()
    assert result.initial_entropy == pytest.approx(model.prior.entropy, abs=1e-6)
    assert result.belief.number_of_transitions == 3


def decoded_by_mcap(path: Path) -> Counter[str]:
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        return Counter(channel.topic for _, channel, _, _ in reader.iter_decoded_messages())


def decoded_by_rosbags(path: Path) -> Counter[str]:
    with AnyReader([path]) as reader:
        return Counter(c.topic for c, _, data in reader.messages() if reader.deserialize(data, c.msgtype))


def test_a_killed_recorder_leaves_a_file_that_can_be_made_whole(
    graph: Graph, processes: Processes, tmp_path: Path
) -> None:
    path = tmp_path / "run.mcap"
    recorder = processes.run(PACKAGE, "recorder", "-p", f"path:={path}")
    processes.run(PACKAGE, "pendulum_plant", "-p", "mode:=realtime", "-p", "period:=0.05")
    reports = recorder_reports(graph)
    # One more report than needed: what was written before the last but one is flushed by now.
    graph.spin_until(
        lambda: sum(int(value(r, "messages") or 0) > 40 for r in reports) > 2, 30.0, what="40 messages"
    )
    recorder.stop(signal.SIGKILL)
    found = recover(path, tmp_path / "whole.mcap")
    assert not found.complete and found.messages > 40
    with Recording(tmp_path / "whole.mcap") as recording:
        steps = [item.message.step for item in recording.messages([STATE])]
    assert len(steps) > 15 and steps == list(range(steps[0], steps[0] + len(steps)))


@pytest.mark.parametrize("trouble", ["full disk", "unwritable folder", "impossible name"])
def test_the_disks_troubles_stop_the_recording_and_nothing_else(
    graph: Graph, processes: Processes, tmp_path: Path, trouble: str
) -> None:
    processes.run(PACKAGE, "pendulum_plant", "-p", "mode:=realtime", "-p", "period:=0.05")
    paths = {
        "unwritable folder": Path("/dev/null/run.mcap"),
        "impossible name": tmp_path / f"{300 * 'x'}.mcap",
    }
    path = paths.get(trouble, tmp_path / "run.mcap")
    executable = Path(get_package_prefix(PACKAGE)) / "lib" / PACKAGE / "recorder"
    limit = "ulimit -f 12; " if trouble == "full disk" else ""  # KiB
    command = f"{limit}exec {executable} --ros-args -p path:={path}"
    recorder = processes.start("bash", "-c", command)
    reports = recorder_reports(graph)
    graph.spin_until(
        lambda: reports and reports[-1].level == DiagnosticStatus.ERROR,
        40.0,
        what="an error in the diagnostics",
    )
    assert str(path) in reports[-1].message
    assert ("recording stopped" if trouble == "full disk" else "cannot record") in reports[-1].message
    assert recorder.exit_code is None and str(path) in recorder.output
    states = graph.collect(PlantState, "state", qos.STATE)
    graph.spin_until(lambda: len(states) > 5, what="the plant to go on")
    assert_ended_well(recorder)
    if trouble == "full disk":
        assert recover(path, tmp_path / "whole.mcap").messages > 0


def test_a_deleted_folder_does_not_end_the_recorder(
    graph: Graph, processes: Processes, tmp_path: Path
) -> None:
    recorder = processes.run(PACKAGE, "recorder", "-p", f"path:={tmp_path / 'folder' / 'run.mcap'}")
    reports = recorder_reports(graph)
    graph.spin_until(lambda: reports and value(reports[-1], "free_megabytes").isdigit(), 40.0, "a report")
    shutil.rmtree(tmp_path / "folder")
    graph.spin_until(
        lambda: recorder.exit_code is not None or value(reports[-1], "free_megabytes") == "unknown",
        what="a report without the folder",
    )
    assert_ended_well(recorder)
