"""Recordings made without a graph: a simulated pendulum under random actions, as our recorder or ``ros2 bag``
writes it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from explore_context.nodes.samples import StateSample
from explore_context.plants import get_plant
from explore_context.recording.definitions import find_definition
from explore_context.recording.reader import BELIEF, FEEDBACK, INFO, STATE
from explore_context.recording.writer import RecordingWriter

PERIOD = 100_000_000
START = 1_700_000_000_000_000_000


@dataclass(frozen=True)
class Item:
    topic: str
    type_name: str
    time: int
    data: bytes
    message: Any


@functools.cache
def typestore() -> Any:
    store = get_typestore(Stores.ROS2_JAZZY)
    for name in (STATE, INFO, BELIEF, FEEDBACK):
        types = get_types_from_msg(find_definition(name).text, name)
        store.register({key: value for key, value in types.items() if key not in store.fielddefs})
    return store


def make(type_name: str, **fields: Any) -> Any:
    """A message with a header, where it has one, and these fields."""
    types = typestore().types
    kind = types[type_name]
    if "header" in kind.__dataclass_fields__:
        stamp = types["builtin_interfaces/msg/Time"](sec=1, nanosec=0)
        fields["header"] = types["std_msgs/msg/Header"](stamp=stamp, frame_id="")
    return kind(**fields)


def item(topic: str, type_name: str, time: int, **fields: Any) -> Item:
    message = make(type_name, **fields)
    return Item(topic, type_name, START + time, bytes(typestore().serialize_cdr(message, type_name)), message)


def pendulum_states(
    seed: int, transitions: int, session: str = "a" * 32, rollout: int = 0
) -> list[StateSample]:
    """One rollout of a random pendulum under random actions."""
    plant, rng = get_plant("pendulum"), np.random.default_rng(seed)
    context = plant.sample_context(rng, 1)
    state = plant.initial_state("calibration", rng, 1)
    samples = [StateSample(session, rollout, 0, plant.observe(state)[0], np.empty(0))]
    for step in range(transitions):
        action = plant.sample_actions(rng, (1,))
        state = plant.step(state, action, context, rng)
        samples.append(StateSample(session, rollout, step + 1, plant.observe(state)[0], action[0]))
    return samples


def state_items(samples: Iterable[StateSample], namespace: str = "", start: int = 0) -> Iterator[Item]:
    for index, sample in enumerate(samples):
        yield item(
            f"{namespace}/state",
            STATE,
            start + index * PERIOD,
            session_id=sample.session_id,
            rollout=sample.rollout,
            step=sample.step,
            observation=sample.observation,
            applied_action=sample.applied_action,
            reward=sample.reward,
        )


def info_item(session: str = "a" * 32, plant: str = "pendulum", namespace: str = "", time: int = 0) -> Item:
    return item(
        f"{namespace}/plant_info",
        INFO,
        time,
        session_id=session,
        plant=plant,
        mode="lockstep",
        period=0.1,
        observation_names=["cos_angle", "sin_angle", "angular_velocity"],
        action_low=np.array([-2.0]),
        action_high=np.array([2.0]),
        commander="",
        hidden_context=np.array([1.0, -1.5, 0.5, 2.0]),
    )


def belief_item(
    transitions: int, entropy: float, status: int = 1, namespace: str = "", time: int = 0
) -> Item:
    return item(
        f"{namespace}/context_belief",
        BELIEF,
        time,
        session_id="a" * 32,
        model_hash="0123456789abcdef",
        mean=np.array([0.5, -0.5]),
        std=np.array([0.9, 0.4]),
        entropy=entropy,
        information_gained=3.0 - entropy,
        expected_gain=0.25,
        number_of_transitions=transitions,
        embedding=np.zeros(4, np.float32),
        status=status,
    )


def write_ours(path: Path, items: Sequence[Item], *, close: bool = True) -> RecordingWriter:
    """As the recorder writes, with a flush after every tenth message."""
    writer = RecordingWriter(path)
    for index, entry in enumerate(items):
        if not writer.has_topic(entry.topic):
            writer.add_topic(entry.topic, find_definition(entry.type_name))
        writer.write(entry.topic, entry.data, entry.time, entry.time, index)
        if index % 10 == 9:
            writer.flush()
    if close:
        writer.close()
    return writer


def write_rosbag2(folder: Path, items: Sequence[Item], storage: Literal["mcap", "sqlite3"]) -> Path:
    """A folder as ``ros2 bag record`` leaves it."""
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        connections: dict[str, Any] = {}
        for entry in items:
            if entry.topic not in connections:
                connections[entry.topic] = writer.add_connection(
                    entry.topic, entry.type_name, typestore=typestore()
                )
            writer.write(connections[entry.topic], entry.time, entry.data)
    return folder
