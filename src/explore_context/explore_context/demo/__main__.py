"""``python -m explore_context.demo``: calibrate and swing up an unknown pendulum, live in the terminal."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import rclpy
from explore_context_interfaces.msg import ContextBelief, PlantState
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Bool, Float64

from explore_context.demo.figure import save_figure
from explore_context.demo.story import Knowledge, Story
from explore_context.demo.view import View
from explore_context.nodes import conversions, qos

NAME = "demo"
TOPICS = ("state", "context_belief", "swing_up_return")
LAUNCH_FILE = "pendulum_swing_up.launch.py"
DASHBOARD_PORT = 8765
FIGURE = Path("results/demo.png")
FRAME_SECONDS = 0.04
_EVERY_STATE = QoSProfile(depth=2000)
_FAREWELL_SECONDS = 15.0
_LAST_WORDS_SECONDS = 1.0


class Spectator(Node):
    """Fills the story from the topics. The calibration waits until it says, on ``demo/ready``, that it hears
    everybody: discovery may take longer than a fast planner."""

    def __init__(self, story: Story) -> None:
        super().__init__(NAME)
        self._story = story
        self._ready = self.create_publisher(Bool, "~/ready", qos.LATCHED)
        self._looking = self.create_timer(FRAME_SECONDS, self._look)
        self.create_subscription(PlantState, "state", self._on_state, _EVERY_STATE)
        self.create_subscription(ContextBelief, "context_belief", self._on_belief, qos.LATCHED)
        self.create_subscription(Float64, "swing_up_return", self._on_return, qos.LATCHED)

    def _look(self) -> None:
        if all(self.count_publishers(topic) for topic in TOPICS):
            self.destroy_timer(self._looking)
            self._ready.publish(Bool(data=True))

    def _on_state(self, message: PlantState) -> None:
        self._story.add_state(
            message.rollout,
            message.step,
            conversions.float_array(message.observation),
            conversions.float_array(message.applied_action),
        )

    def _on_belief(self, message: ContextBelief) -> None:
        knowledge = Knowledge(
            message.number_of_transitions,
            message.entropy,
            message.expected_gain,
            conversions.float_array(message.mean),
            conversions.float_array(message.std),
        )
        self._story.add_belief(knowledge, calibrated=message.status == ContextBelief.CALIBRATED)

    def _on_return(self, message: Float64) -> None:
        self._story.total = message.data


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ws demo", description=__doc__)
    parser.add_argument(
        "--seed", type=int, default=1, help="of the hidden context and of planning (default: 1)"
    )
    parser.add_argument(
        "--mode", choices=("lockstep", "realtime"), default="lockstep", help="how the plant runs"
    )
    parser.add_argument("--planner", default="realtime", help="planner configuration (default: realtime)")
    parser.add_argument("--figure", type=Path, default=FIGURE, help=f"PNG to write (default: {FIGURE})")
    parser.add_argument("--no-dashboard", action="store_true", help="no live view in the browser")
    return parser.parse_args(arguments)


def free_port(wanted: int) -> int:
    """``wanted`` if nobody serves there, else any free one."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    return 0


def launch_command(options: argparse.Namespace, port: int) -> list[str]:
    command = ["ros2", "launch", "explore_context", LAUNCH_FILE, "exit_when_done:=true"]
    command += [f"seed:={options.seed}", f"mode:={options.mode}", f"planner:={options.planner}"]
    command.append(f"spectators:={NAME}")
    return command + ([] if options.no_dashboard else ["dashboard:=true", f"dashboard_port:={port}"])


def watch(child: subprocess.Popen[bytes], story: Story, view: View) -> None:
    """Draw until the launch has ended."""
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    executor = SingleThreadedExecutor()
    executor.add_node(Spectator(story))
    drawn = 0.0
    try:
        while child.poll() is None:
            executor.spin_once(timeout_sec=FRAME_SECONDS)
            if time.monotonic() - drawn > FRAME_SECONDS or not sys.stdout.isatty():
                view.draw(story)
                drawn = time.monotonic()
        # A fast planner ends the launch before all that it told has been read.
        until = time.monotonic() + _LAST_WORDS_SECONDS
        while child.returncode == 0 and story.total is None and time.monotonic() < until:
            executor.spin_once(timeout_sec=FRAME_SECONDS)
        view.draw(story)
    finally:
        view.close()
        executor.shutdown(timeout_sec=0.0)
        rclpy.try_shutdown()


def end(child: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C in the launch's own terminal; by force only if that does not help."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        if child.poll() is not None:
            return
        os.killpg(child.pid, number)
        try:
            child.wait(_FAREWELL_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def summary_of(log: str) -> list[str]:
    """The lines that the lifecycle manager printed at the end."""
    lines = [line.partition("] ")[2] for line in log.splitlines() if line.startswith("[lifecycle_manager")]
    starts = [k for k, line in enumerate(lines) if line.startswith("calibration of")]
    return lines[starts[-1] :] if starts else []


def run(options: argparse.Namespace, log: Path) -> int:
    """0: everything worked; 130: interrupted."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    port = free_port(DASHBOARD_PORT)
    story, view = Story(), View()
    print("starting an unknown pendulum, a calibrator and a controller", flush=True)
    if not options.no_dashboard:
        print(f"live view: http://127.0.0.1:{port}/", flush=True)
    with log.open("wb") as file:
        child = subprocess.Popen(
            launch_command(options, port),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        watch(child, story, view)
    except KeyboardInterrupt:
        print("\ninterrupted", flush=True)
        return 130
    finally:
        end(child)
    if child.returncode != 0:
        print(log.read_text(errors="replace")[-4000:], file=sys.stderr)
        print("the demonstration failed; its log is above", file=sys.stderr)
        return 1
    save_figure(story, options.figure)
    print(
        "\n".join(["", *summary_of(log.read_text(errors="replace")), f"figure: {options.figure.resolve()}"])
    )
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    with tempfile.TemporaryDirectory(prefix="explore_context_demo_") as folder:
        return run(options, Path(folder) / "launch.log")


if __name__ == "__main__":
    sys.exit(main())
