"""The belief of a recording is the belief that a live calibrator would have had."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.recordings import (
    belief_item,
    info_item,
    pendulum_states,
    state_items,
    write_ours,
    write_rosbag2,
)
from tests.helpers.small_model import export_small_model

from explore_context.cli import main
from explore_context.model import Belief, ContextModel
from explore_context.nodes.samples import StateSample
from explore_context.recording.calibrate import belief_from_bag, calibrate_from_bag
from explore_context.recording.writer import RecordingError


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ContextModel:
    return export_small_model(tmp_path_factory.mktemp("model"))


def live_belief(model: ContextModel, samples: list[StateSample]) -> Belief:
    """One update per transition, as a calibration does."""
    belief = model.prior
    for before, after in pairwise(samples):
        if after.step == before.step + 1 and after.rollout == before.rollout:
            rows = (before.observation[None], after.applied_action[None], after.observation[None])
            belief = model.update(belief, *rows)
    return belief


def assert_same(found: Belief, expected: Belief) -> None:
    assert found.transitions == expected.transitions
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-6, rtol=0)
    np.testing.assert_allclose(found.std, expected.std, atol=1e-6, rtol=0)
    assert abs(found.entropy - expected.entropy) < 1e-6


def test_same_belief_from_our_recording_and_from_a_ros2_bag(tmp_path: Path, model: ContextModel) -> None:
    samples = pendulum_states(seed=3, transitions=30)
    items = [info_item(), *state_items(samples)]
    expected = live_belief(model, samples)
    assert expected.entropy < model.prior.entropy
    write_ours(tmp_path / "run.mcap", items)
    assert_same(belief_from_bag(tmp_path / "run.mcap", model), expected)
    for storage in ("mcap", "sqlite3"):
        folder = write_rosbag2(tmp_path / storage, items, storage)
        assert_same(belief_from_bag(folder, model), expected)


def test_gaps_duplicates_and_bad_numbers_never_enter(tmp_path: Path, model: ContextModel) -> None:
    samples = pendulum_states(seed=4, transitions=20)
    broken = replace(samples[15], observation=np.array([np.nan, 0.0, 0.0]))
    recorded = [*samples[:5], samples[4], *samples[7:15], broken, *samples[16:]]
    write_ours(tmp_path / "run.mcap", list(state_items(recorded)))
    kept = [*samples[:5], *samples[7:15]]
    rest = samples[16:]
    result = calibrate_from_bag(tmp_path / "run.mcap", model, planner=None)
    assert result.belief.transitions == 4 + 7 + 4
    assert result.session.rejected == {"gap": 2, "non_finite": 1}
    halves = [live_belief(model, part).embedding for part in (kept, rest)]
    np.testing.assert_allclose(result.belief.embedding, np.maximum(*halves), atol=1e-6)


def test_rollouts_join_and_sessions_never_do(tmp_path: Path, model: ContextModel) -> None:
    first = pendulum_states(seed=5, transitions=10, session="1" * 32)
    again = pendulum_states(seed=5, transitions=10, session="1" * 32, rollout=1)
    other = pendulum_states(seed=6, transitions=12, session="2" * 32)
    write_ours(tmp_path / "run.mcap", list(state_items([*first, *again, *other])))
    assert_same(belief_from_bag(tmp_path / "run.mcap", model), live_belief(model, other))
    old = belief_from_bag(tmp_path / "run.mcap", model, session_id="1")
    assert_same(old, live_belief(model, [*first, *again]))
    with pytest.raises(RecordingError, match="no session '9'"):
        belief_from_bag(tmp_path / "run.mcap", model, session_id="9")


def test_the_recorders_own_robot_comes_before_others_that_it_heard(
    tmp_path: Path, model: ContextModel
) -> None:
    own = pendulum_states(seed=5, transitions=10, session="1" * 32)
    other = pendulum_states(seed=6, transitions=12, session="2" * 32)
    items = [*state_items(own), *state_items(other, "/robot1", start=1)]
    writer = write_ours(tmp_path / "run.mcap", items, close=False)
    writer.add_metadata({"namespace": "/"})
    writer.close()
    assert_same(belief_from_bag(tmp_path / "run.mcap", model), live_belief(model, own))


def test_what_is_still_unknown_is_told(tmp_path: Path, model: ContextModel, capsys) -> None:
    samples = pendulum_states(seed=7, transitions=8)
    path = tmp_path / "run.mcap"
    write_ours(path, [info_item(), *state_items(samples), belief_item(8, 1.25, status=2)])
    assert main(["calibrate-from-bag", str(path), "--model", str(model.folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    belief = live_belief(model, samples)
    assert found["transitions"] == 8 and found["entropy"] == pytest.approx(belief.entropy, abs=1e-6)
    assert found["information_gained"] == pytest.approx(model.prior.entropy - belief.entropy, abs=1e-6)
    assert found["next_manoeuvre"]["expected_gain"] >= 0 and len(found["next_manoeuvre"]["actions"]) == 20
    assert found["published"] == {"model_hash": "0123456789abcdef", "transitions": 8, "entropy": 1.25}
    assert main(["calibrate-from-bag", str(path), "--model", str(model.folder), "--transitions", "3"]) == 0
    text = capsys.readouterr().out
    assert "transitions    3 in 1 rollout" in text and "still to gain" in text


def test_mistakes_are_explained(tmp_path: Path, model: ContextModel, capsys) -> None:
    def error_of(*arguments: str) -> str:
        assert main(list(arguments)) == 1
        return capsys.readouterr().err

    write_ours(tmp_path / "car.mcap", [info_item(plant="mountain_car"), *state_items(pendulum_states(1, 3))])
    write_ours(tmp_path / "empty.mcap", [info_item()])
    write_ours(tmp_path / "still.mcap", list(state_items(pendulum_states(1, 0))))
    folder = str(model.folder)
    assert "no such recording" in error_of("calibrate-from-bag", str(tmp_path / "x.mcap"), "--model", folder)
    assert "'mountain_car'" in error_of("calibrate-from-bag", str(tmp_path / "car.mcap"), "--model", folder)
    assert "/plant_info" in error_of("calibrate-from-bag", str(tmp_path / "empty.mcap"), "--model", folder)
    assert "consecutive" in error_of("calibrate-from-bag", str(tmp_path / "still.mcap"), "--model", folder)
    assert "manifest.yaml" in error_of("calibrate-from-bag", str(tmp_path / "car.mcap"), "--model", "nothing")


def test_the_command_line(tmp_path: Path, capsys) -> None:
    assert main(["version"]) == 0 and capsys.readouterr().out.startswith("explore-context ")
    write_ours(tmp_path / "run.mcap", list(state_items(pendulum_states(1, 5))))
    (tmp_path / "broken.mcap").write_bytes((tmp_path / "run.mcap").read_bytes()[:-20])
    assert main(["recover", str(tmp_path / "broken.mcap"), "-o", str(tmp_path / "whole.mcap")]) == 0
    assert "6 messages on 1 topics" in capsys.readouterr().out
    with pytest.raises(SystemExit) as refusal:
        main(["replay", "x.mcap", "--speed", "0"])
    assert refusal.value.code == 2
