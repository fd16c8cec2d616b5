"""What the page may ask for, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from explore_context.dashboard.commands import (
    Calibrate,
    Cancel,
    CommandError,
    NewSystem,
    Playback,
    parse_command,
)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('{"command":"calibrate","robot":"/"}', Calibrate("/")),
        (
            '{"command":"calibrate","robot":"/a","scheme":"mpc","planner":"paper","transitions":5,"rollouts":2,"seed":3}',
            Calibrate("/a", "mpc", "paper", 5, 2, 3),
        ),
        ('{"command":"cancel","robot":"/"}', Cancel("/")),
        ('{"command":"new_system","robot":"/"}', NewSystem("/")),
        ('{"command":"playback","speed":2,"playing":true}', Playback(True, 2.0, None)),
    ],
)
def test_commands(text: str, command: Any) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        '{"command":"shutdown","robot":"/"}',
        '{"command":"cancel"}',
        '{"command":"cancel","robot":"robot1"}',
        '{"command":"calibrate","robot":"/","scheme":"clever"}',
        '{"command":"calibrate","robot":"/","scheme":["mpc"]}',
        '{"command":"calibrate","robot":"/","transitions":-1}',
        '{"command":"calibrate","robot":"/","transitions":true}',
        '{"command":"calibrate","robot":"/","seed":1e3}',
        '{"command":"playback","speed":NaN}',
        '{"command":"playback","speed":0}',
        '{"command":"playback","playing":1}',
    ],
)
def test_bad_commands_are_refused(text: str) -> None:
    with pytest.raises(CommandError):
        parse_command(text)
