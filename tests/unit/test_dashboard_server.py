"""The server: what it serves, to whom, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.helpers.recordings import (
    belief_item,
    info_item,
    pendulum_states,
    state_items,
    write_ours,
)
from tests.helpers.waiting import wait_until

from explore_context.dashboard.commands import Command
from explore_context.dashboard.hub import Hub
from explore_context.dashboard.server import STATIC, DashboardError, DashboardServer, _is_our_name
from explore_context.recording.replay import Replay
from explore_context.recording.writer import RecordingError


class Recorder:
    def __init__(self) -> None:
        self.commands: list[Command] = []

    def submit(self, command: Command) -> None:
        self.commands.append(command)


@pytest.fixture
def controller() -> Recorder:
    return Recorder()


@pytest.fixture
def server(controller: Recorder) -> Iterator[DashboardServer]:
    server = DashboardServer(Hub({"kind": "live", "control": True}), "127.0.0.1", 0, controller)
    server.start()
    yield server
    server.stop()


def talk(
    server: DashboardServer, *sent: str, replies: int = 1, origin: str | None = "same"
) -> list[dict[str, Any]]:
    """Open the socket, send texts, and return so many messages."""

    async def conversation() -> list[dict[str, Any]]:
        headers = {} if origin is None else {"Origin": server.url.rstrip("/") if origin == "same" else origin}
        timeout = aiohttp.ClientTimeout(10)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            async with session.ws_connect(f"{server.url}socket", headers=headers) as socket:
                for text in sent:
                    await socket.send_str(text)
                return [json.loads((await socket.receive(10)).data) for _ in range(replies)]

    return asyncio.run(conversation())


def get(server: DashboardServer, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    async def request() -> tuple[int, dict[str, str], str]:
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{server.url}{path}", headers=headers) as answer:
                return answer.status, dict(answer.headers), await answer.text()

    return asyncio.run(request())


def test_the_page_is_served_with_a_strict_policy(server: DashboardServer) -> None:
    status, headers, text = get(server, "")
    assert status == 200 and "<title>explore_context</title>" in text
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy
    for name in ("app.js", "style.css", "uplot.min.js", "uplot.min.css", "icon.svg"):
        status, headers, _ = get(server, name)
        assert status == 200 and headers["X-Content-Type-Options"] == "nosniff", name
    assert get(server, "server.py")[0] == 404
    assert get(server, "..%2fserver.py")[0] == 404


def test_the_page_asks_nothing_of_other_hosts() -> None:
    for path in STATIC.iterdir():
        if path.suffix not in (".html", ".css", ".js") or path.name.startswith("uplot"):
            continue
        hosts = re.findall(r"\b(?:https?|wss?)://[^\s\"'`]+", path.read_text())
        assert [host for host in hosts if "${location.host}" not in host] == [], path.name
        assert not re.search(r"\bon[a-z]+=\"|style=\"|innerHTML", path.read_text()), path.name
    assert "MIT License" in (STATIC / "uplot.LICENSE.txt").read_text()


def test_foreign_pages_and_foreign_names_are_refused(server: DashboardServer) -> None:
    assert talk(server)[0]["type"] == "snapshot"
    for origin in (
        "http://evil.example",
        f"https://127.0.0.1:{server.port}",
        "http://127.0.0.1:1",
        "null",
        None,
    ):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            talk(server, origin=origin)
        assert refusal.value.status == 403
    assert get(server, "", Host=f"evil.example:{server.port}")[0] == 403  # DNS rebinding
    assert get(server, "", Host="127.0.0.1:1")[0] == 403
    assert get(server, "", Host=f"localhost:{server.port}")[0] == 200


def test_commands_are_passed_on_or_explained(server: DashboardServer, controller: Recorder) -> None:
    server.hub.post("/", "online", True)
    good = '{"command":"calibrate","robot":"/","scheme":"mpc"}'
    answers = talk(server, good, '{"command":"cancel","robot":"/other"}', "nonsense", replies=4)
    assert [answer["type"] for answer in answers] == ["snapshot", "reply", "reply", "reply"]
    assert [answer.get("ok") for answer in answers[1:]] == [True, False, False]
    assert "/other" in answers[2]["message"]
    assert [type(command).__name__ for command in controller.commands] == ["Calibrate"]


def test_a_read_only_dashboard_carries_out_nothing() -> None:
    server = DashboardServer(Hub({"kind": "live", "control": False}), "127.0.0.1", 0)
    server.start()
    try:
        server.hub.post("/", "online", True)
        answers = talk(server, '{"command":"new_system","robot":"/"}', replies=2)
    finally:
        server.stop()
    assert answers[0]["mode"] == {"kind": "live", "control": False}
    assert not answers[1]["ok"] and "dashboard_control:=true" in answers[1]["message"]


def test_changes_are_pushed_to_every_page_and_only_changes(server: DashboardServer) -> None:
    async def conversation() -> list[list[dict[str, Any]]]:
        headers = {"Origin": server.url.rstrip("/")}
        async with aiohttp.ClientSession() as session:
            url = f"{server.url}socket"
            async with (
                session.ws_connect(url, headers=headers) as one,
                session.ws_connect(url, headers=headers) as two,
            ):
                snapshots = [json.loads((await socket.receive(10)).data) for socket in (one, two)]
                server.hub.post("/", "info", info_item().message)
                updates = [json.loads((await socket.receive(10)).data) for socket in (one, two)]
                server.hub.post("/", "info", info_item().message)  # the same again
                server.hub.post("/", "belief", belief_item(1, 2.0).message)
                later = [json.loads((await socket.receive(10)).data) for socket in (one, two)]
        return [snapshots, updates, later]

    snapshots, updates, later = asyncio.run(conversation())
    assert snapshots[0] == snapshots[1] and snapshots[0]["robots"] == {}
    assert updates[0] == updates[1] and updates[0]["robots"]["/"]["info"]["plant"] == "pendulum"
    assert "info" not in later[0]["robots"]["/"] and later[1]["robots"]["/"]["belief"]["transitions"] == 1
    wait_until(lambda: server.clients == 0, what="both pages to be forgotten")


def test_a_taken_port_is_explained(server: DashboardServer) -> None:
    second = DashboardServer(Hub({}), "127.0.0.1", server.port)
    with pytest.raises(DashboardError, match="another port"):
        second.start()
    second.stop()


# -- replay ------------------------------------------------------------


def run_file(path: Path) -> Path:
    states = list(state_items(pendulum_states(2, 20)))
    beliefs = [belief_item(k, 3.0 - 0.2 * k, time=k * 100_000_000 + 1) for k in range(21)]
    items = sorted([info_item(), *states, *beliefs], key=lambda entry: entry.time)
    write_ours(path, items)
    return path


def belief_of(replay: Replay) -> int | None:
    replay.hub.apply()
    robots = json.loads(replay.hub.snapshot())["robots"]
    return robots["/"]["belief"]["transitions"] if "belief" in robots["/"] else None


def test_a_replay_keeps_the_recordings_time(tmp_path: Path) -> None:
    replay = Replay(run_file(tmp_path / "run.mcap"), speed=2.0)
    assert replay.duration == pytest.approx(2.0, abs=0.01)
    replay.advance(0.26)  # 0.52 s of the recording
    assert belief_of(replay) == 5
    replay.advance(10.0)
    assert belief_of(replay) == 20
    mode = json.loads(replay.hub.snapshot())["mode"]
    assert mode["kind"] == "replay" and not mode["playing"] and mode["position"] == 2.0


def test_a_replay_pauses_jumps_and_starts_again(tmp_path: Path) -> None:
    from explore_context.dashboard.commands import Playback

    replay = Replay(run_file(tmp_path / "run.mcap"))
    replay.submit(Playback(position=1.55))
    replay.advance(0.0)
    assert belief_of(replay) == 15
    replay.submit(Playback(playing=False))
    replay.advance(5.0)
    assert belief_of(replay) == 15
    replay.submit(Playback(position=0.25))
    replay.advance(0.0)
    assert belief_of(replay) == 2
    robots = json.loads(replay.hub.snapshot())["robots"]
    assert len(robots["/"]["series"]["belief"]["set"]) == 3
    replay.submit(Playback(playing=True, position=99.0))
    replay.advance(0.1)
    replay.submit(Playback(playing=True))  # at the end: from the beginning
    replay.advance(0.05)
    assert belief_of(replay) == 0


def test_a_recording_with_nothing_to_show_is_refused(tmp_path: Path) -> None:
    from tests.helpers.recordings import typestore

    from explore_context.recording.definitions import find_definition
    from explore_context.recording.writer import RecordingWriter

    writer = RecordingWriter(tmp_path / "other.mcap")
    name = "std_msgs/msg/String"
    writer.add_topic("/chatter", find_definition(name))
    message = typestore().types[name](data="hello")
    writer.write("/chatter", bytes(typestore().serialize_cdr(message, name)), 1, 1)
    writer.close()
    with pytest.raises(RecordingError, match="plant_info"):
        Replay(tmp_path / "other.mcap")


@pytest.mark.parametrize(
    ("host", "port", "text"),
    [("", 0, "the host is empty"), ("127.0.0.1", 70000, "port"), ("a..b", 0, "a..b")],
)
def test_an_address_that_is_none_is_refused(host: str, port: int, text: str) -> None:
    server = DashboardServer(Hub({}), host, port)
    with pytest.raises(DashboardError, match=text):
        server.start()


def test_the_name_that_was_asked_for_is_served() -> None:
    assert _is_our_name("robot.local:8765", "robot.local", 8765)
    assert not _is_our_name("robot.local:8765", "127.0.0.1", 8765)
