"""Recordings: readable by the tools that others use, whole or broken, and never in anybody's way."""

from __future__ import annotations

import errno
import io
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from tests.helpers.recordings import (
    START,
    belief_item,
    info_item,
    item,
    pendulum_states,
    state_items,
    write_ours,
    write_rosbag2,
)

from explore_context.recording.definitions import DefinitionError, find_definition
from explore_context.recording.files import recording_path
from explore_context.recording.reader import BELIEF, FEEDBACK, INFO, STATE, Recording, recording_facts
from explore_context.recording.recover import recover
from explore_context.recording.writer import RecordingError, RecordingWriter


def run_items() -> list:
    states = list(state_items(pendulum_states(seed=1, transitions=30)))
    feedback = item(
        "/calibrator/calibrate/feedback",
        FEEDBACK,
        5,
        rollout=0,
        step=3,
        entropy=1.5,
        information_gained=1.5,
        expected_gain=0.5,
        planning_time=0.03,
        planned_actions=np.array([1.0, -1.0]),
    )
    return [info_item(), belief_item(0, 3.0), *states, feedback, belief_item(30, -2.0, status=2)]


def test_definitions_hold_every_nested_type() -> None:
    definition = find_definition(STATE)
    assert "MSG: std_msgs/Header" in definition.text and "MSG: builtin_interfaces/Time" in definition.text
    assert definition.type_hash.startswith("RIHS01_")
    assert "float64[] planned_actions" in find_definition(FEEDBACK).text
    assert "uint32 transitions" not in find_definition(FEEDBACK).text  # that is the goal's
    nested = find_definition("diagnostic_msgs/msg/DiagnosticArray").text
    assert nested.count("MSG: diagnostic_msgs/KeyValue") == 1


def test_an_unknown_type_is_named() -> None:
    with pytest.raises(DefinitionError, match="nobody_msgs"):
        find_definition("nobody_msgs/msg/Nothing")


def test_every_topic_is_decodable_by_other_tools(tmp_path: Path) -> None:
    items = run_items()
    write_ours(tmp_path / "run.mcap", items)
    with (tmp_path / "run.mcap").open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert reader.get_header().profile == "ros2"
        summary = reader.get_summary()
        assert summary is not None and summary.statistics.message_count == len(items)
        assert summary.chunk_indexes and all(index.compression == "zstd" for index in summary.chunk_indexes)
        decoded = list(reader.iter_decoded_messages())
    assert {channel.topic for _, channel, _, _ in decoded} == {entry.topic for entry in items}
    observed = [message.observation for _, channel, _, message in decoded if channel.topic == "/state"]
    assert observed == [list(entry.message.observation) for entry in items if entry.type_name == STATE]
    with AnyReader([tmp_path / "run.mcap"]) as rosbags:  # checks the type hashes, too
        count = sum(1 for c, _, data in rosbags.messages() if rosbags.deserialize(data, c.msgtype))
    assert count == len(items)


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_bags_of_ros2_bag_are_read(tmp_path: Path, storage) -> None:
    items = run_items()
    folder = write_rosbag2(tmp_path / "bag", items, storage)
    with Recording(folder) as recording:
        found = list(recording.messages([STATE, INFO, BELIEF]))
        assert recording.start == START and recording.topics["/state"] == (STATE, 31)
    assert len(found) == len(items) - 1
    single = next(path for path in folder.iterdir() if path.suffix in (".mcap", ".db3"))
    with Recording(single) as recording:
        assert len(list(recording.messages([STATE]))) == 31


def test_facts_of_the_run_are_kept(tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "run.mcap")
    writer.add_metadata({"namespace": "/"})
    writer.add_metadata({"namespace": "/", "model_hash": "abc", "plant": "pendulum", "plant.seed": "3"})
    writer.close()
    facts = recording_facts(tmp_path / "run.mcap")
    assert facts == {"namespace": "/", "model_hash": "abc", "plant": "pendulum", "plant.seed": "3"}


def test_a_flush_brings_everything_to_the_file(tmp_path: Path) -> None:
    items = run_items()
    writer = write_ours(tmp_path / "run.mcap", items, close=False)
    writer.flush()
    found = recover(tmp_path / "run.mcap", tmp_path / "whole.mcap")
    assert found.messages == len(items) and not found.complete
    writer.close()


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95, 0.999])
def test_a_file_cut_anywhere_is_made_whole(tmp_path: Path, share: float) -> None:
    write_ours(tmp_path / "run.mcap", run_items())
    data = (tmp_path / "run.mcap").read_bytes()
    (tmp_path / "broken.mcap").write_bytes(data[: int(share * len(data))])
    with pytest.raises(RecordingError, match="explore-context recover"), Recording(tmp_path / "broken.mcap"):
        pass
    found = recover(tmp_path / "broken.mcap", tmp_path / "whole.mcap")
    assert found.messages > 0 and not found.complete
    with Recording(tmp_path / "whole.mcap") as recording:
        messages = list(recording.messages([STATE]))
    steps = [item.message.step for item in messages]
    assert steps == list(range(len(steps)))


def test_a_damaged_chunk_costs_only_itself(tmp_path: Path) -> None:
    items = run_items()
    write_ours(tmp_path / "run.mcap", items)
    data = bytearray((tmp_path / "run.mcap").read_bytes())
    middle = len(data) // 3
    data[middle : middle + 8] = b"\xff" * 8
    (tmp_path / "broken.mcap").write_bytes(data)
    found = recover(tmp_path / "broken.mcap", tmp_path / "whole.mcap")
    assert found.lost_chunks == 1 and not found.complete
    assert len(items) - 10 <= found.messages < len(items)


def test_a_damaged_chunk_is_said_with_the_remedy(tmp_path: Path) -> None:
    write_ours(tmp_path / "run.mcap", run_items())
    data = bytearray((tmp_path / "run.mcap").read_bytes())
    middle = len(data) // 3
    data[middle : middle + 8] = b"\xff" * 8
    (tmp_path / "broken.mcap").write_bytes(data)
    with Recording(tmp_path / "broken.mcap") as recording, pytest.raises(RecordingError, match="recover"):
        list(recording.messages([STATE]))


def test_a_bad_sector_costs_only_what_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = run_items()
    write_ours(tmp_path / "run.mcap", items)
    size = (tmp_path / "run.mcap").stat().st_size

    class Disk(io.FileIO):
        """Unreadable from a third on."""

        def readinto(self, buffer: Any) -> int:
            if self.tell() + len(buffer) > size // 3:
                raise OSError(errno.EIO, "Input/output error")
            return super().readinto(buffer) or 0

    usual = Path.open

    def opened(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if path.name == "run.mcap" and mode == "rb":
            return io.BufferedReader(Disk(path), buffer_size=64)
        return usual(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", opened)
    found = recover(tmp_path / "run.mcap", tmp_path / "whole.mcap")
    assert not found.complete and 0 < found.messages < len(items)


def test_recover_refuses_what_it_should(tmp_path: Path) -> None:
    write_ours(tmp_path / "run.mcap", run_items())
    assert recover(tmp_path / "run.mcap", tmp_path / "copy.mcap").complete
    with pytest.raises(RecordingError, match="exists already"):
        recover(tmp_path / "run.mcap", tmp_path / "copy.mcap")
    (tmp_path / "text.mcap").write_text("not a recording at all")
    with pytest.raises(RecordingError, match="not an MCAP"):
        recover(tmp_path / "text.mcap", tmp_path / "none.mcap")
    with pytest.raises(RecordingError, match=r"missing\.mcap"):
        recover(tmp_path / "missing.mcap", tmp_path / "none.mcap")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.mcap", "run.mcap", "text.mcap"]


def test_a_full_disk_raises_once_and_leaves_a_recoverable_file(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    script = (
        "import random; from pathlib import Path\n"
        "from explore_context.recording.writer import RecordingError, RecordingWriter\n"
        "from explore_context.recording.definitions import Definition\n"
        f"writer = RecordingWriter(Path({str(path)!r}))\n"
        "writer.add_topic('/noise', Definition('std_msgs/msg/String', 'string data'))\n"
        "try:\n"
        "    for time in range(400):\n"
        "        writer.write('/noise', random.Random(time).randbytes(100), time, time)\n"
        "        if time % 10 == 9: writer.flush()\n"
        "except RecordingError as error: print(error)\n"
        "assert not writer.is_open\n"
        "writer.close()\n"
    )
    limit = 16_000

    def confine() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    result = subprocess.run(
        [sys.executable, "-c", script], preexec_fn=confine, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == 0 and not result.stderr, result.stderr
    assert "recording stopped after" in result.stdout and "explore-context recover" in result.stdout
    assert path.stat().st_size <= limit
    assert recover(path, tmp_path / "whole.mcap").messages >= 20


def test_an_unwritable_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordingError, match=r"file/run\.mcap: cannot record"):
        RecordingWriter(tmp_path / "file" / "run.mcap")
    RecordingWriter(tmp_path / "new" / "run.mcap").close()
    with pytest.raises(RecordingError, match="exists"):
        RecordingWriter(tmp_path / "new" / "run.mcap")


def test_a_folder_that_may_not_be_searched_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refuse)  # root may search any folder
    with pytest.raises(RecordingError, match=r"/locked/run\.mcap: cannot record: Permission denied"):
        recording_path("/locked/run.mcap")


def test_no_recording_is_overwritten(tmp_path: Path) -> None:
    assert recording_path(str(tmp_path / "run.mcap")) == tmp_path / "run.mcap"
    (tmp_path / "run.mcap").touch()
    assert recording_path(str(tmp_path / "run.mcap")) == tmp_path / "run_1.mcap"
    named = recording_path(str(tmp_path), now=0.0)
    assert (
        named.parent == tmp_path and named.name.startswith("explore_context_19") and named.suffix == ".mcap"
    )


def test_the_offered_qos_is_what_rosbags_understands(tmp_path: Path) -> None:
    from rclpy.qos import DurabilityPolicy, QoSProfile

    from explore_context.nodes.topic_tap import _profile_yaml

    qos = _profile_yaml(QoSProfile(depth=7, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    entry = info_item()
    writer = RecordingWriter(tmp_path / "run.mcap")
    writer.add_topic(entry.topic, find_definition(entry.type_name), qos)
    writer.write(entry.topic, entry.data, entry.time, entry.time)
    writer.close()
    with AnyReader([tmp_path / "run.mcap"]) as reader:
        (offered,) = reader.connections[0].ext.offered_qos_profiles
    assert offered.depth == 7 and offered.durability.name == "TRANSIENT_LOCAL"
    assert offered.reliability.name == "RELIABLE" and json.dumps(offered.deadline.sec)
