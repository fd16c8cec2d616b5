"""The command ``explore-context``: work with recordings, away from the graph."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Event
from typing import Any


def _version() -> str:
    try:
        return version("explore_context")
    except PackageNotFoundError:
        return "unknown (not installed)"


def _calibrate_from_bag(arguments: argparse.Namespace) -> int:
    from explore_context.model import ContextModel
    from explore_context.recording.calibrate import calibrate_from_bag, summary

    model = ContextModel.load(find_model(arguments.model))
    result = calibrate_from_bag(
        arguments.recording,
        model,
        session_id=arguments.session,
        first=arguments.transitions,
        planner=None if arguments.planner == "none" else arguments.planner,
        seed=arguments.seed,
    )
    found = summary(result, model)
    print(json.dumps(found, indent=2) if arguments.json else _calibration_text(arguments.recording, found))
    return 0


def _calibration_text(path: Path, found: dict[str, Any]) -> str:
    rollouts = f"{found['rollouts']} rollout{'s' if found['rollouts'] != 1 else ''}"
    lines = [
        f"{path}: {found['plant']}, session {found['session']} ({found['topic']})",
        f"  transitions    {found['transitions']} in {rollouts}"
        + "".join(f", {count} rejected ({reason})" for reason, count in found["rejected"].items()),
        f"  model          {found['model_hash']}",
        f"  entropy        {found['entropy']:.3f} nat, of {found['prior_entropy']:.3f} before: "
        f"{found['information_gained']:.3f} gained",
    ]
    if found["next_manoeuvre"]:
        plan = found["next_manoeuvre"]
        lines.append(
            f"  still to gain  {plan['expected_gain']:.3f} nat expected from the best next "
            f"{len(plan['actions'])} actions, begun where a rollout begins"
        )
    if found["published"]:
        published = found["published"]
        same = "" if published["model_hash"] == found["model_hash"] else f", model {published['model_hash']}"
        after = f"after {published['transitions']} transitions{same}"
        lines.append(f"  published      {published['entropy']:.3f} nat {after}")
    lines.append("  belief         mean ± 2σ")
    for index, (mean, std) in enumerate(zip(found["mean"], found["std"], strict=True), 1):
        lines.append(f"    {index:>2}  {mean:+.3f} ± {2 * std:.3f}")
    return "\n".join(lines)


def _recover(arguments: argparse.Namespace) -> int:
    from explore_context.recording.recover import recover

    source: Path = arguments.recording
    target: Path = arguments.output or source.with_name(f"{source.stem}_recovered.mcap")
    found = recover(source, target)
    state = "was complete already" if found.complete else "was broken"
    lost = f", {found.lost_chunks} damaged chunks lost" if found.lost_chunks else ""
    print(f"{source} {state}: {found.messages} messages on {found.topics} topics in {target}{lost}")
    return 0


def _replay(arguments: argparse.Namespace) -> int:
    from explore_context.dashboard.server import DashboardServer
    from explore_context.recording.replay import Replay

    replay = Replay(arguments.recording, arguments.speed, playing=not arguments.paused)
    server = DashboardServer(replay.hub, arguments.host, arguments.port, replay)
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    server.start()
    replay.start()
    print(f"{arguments.recording}, {replay.duration:.1f} s: {server.url}  (Ctrl-C ends)", flush=True)
    while not stop.wait(0.2):
        pass
    replay.stop()
    server.stop()
    return 0


def _print_version(arguments: argparse.Namespace) -> int:
    print(f"explore-context {_version()}")
    return 0


def find_model(name: str) -> Path:
    """A folder as it is; a bare name in the models of the workspace or of the installed package."""
    path = Path(name).expanduser()
    if path.is_dir() or path.name != name:
        return path
    roots = [Path(__file__).resolve().parents[1]]
    try:
        from ament_index_python.packages import get_package_share_directory

        roots.append(Path(get_package_share_directory("explore_context")))
    except (ImportError, LookupError):
        pass
    return next((found for root in roots if (found := root / "models" / name).is_dir()), path)


def _speed(text: str) -> float:
    value = float(text)
    if not 0.01 <= value <= 1000:
        raise argparse.ArgumentTypeError("must lie between 0.01 and 1000")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="explore-context", description="Work with recordings.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=run)
        return command

    calibrate = add("calibrate-from-bag", _calibrate_from_bag, "Belief from the transitions of a recording.")
    calibrate.add_argument("recording", type=Path, help=".mcap or .db3 file, or folder of a ros2 bag")
    calibrate.add_argument(
        "--model", required=True, help="folder of the learned model, or its name (pendulum)"
    )
    calibrate.add_argument("--session", help="session id, or its beginning (default: the newest)")
    calibrate.add_argument("--transitions", type=_positive, help="use only the first so many")
    calibrate.add_argument(
        "--planner", default="realtime", help="realtime, paper or none: what searches the next manoeuvre"
    )
    calibrate.add_argument("--seed", type=int, default=0, help="seed of that search (default: 0)")
    calibrate.add_argument("--json", action="store_true", help="print JSON, the whole belief included")

    recover = add("recover", _recover, "Make a recording whole that was cut off or damaged.")
    recover.add_argument("recording", type=Path, help="broken .mcap file")
    recover.add_argument(
        "-o", "--output", type=Path, help="file to write (default: beside it, *_recovered.mcap)"
    )

    replay = add("replay", _replay, "Show a recording in the dashboard.")
    replay.add_argument("recording", type=Path, help=".mcap or .db3 file, or folder of a ros2 bag")
    replay.add_argument("--speed", type=_speed, default=1.0, help="times real time (default: 1)")
    replay.add_argument("--paused", action="store_true", help="wait for the page's Play button")
    replay.add_argument(
        "--host", default="127.0.0.1", help="address to serve on (default: this machine only)"
    )
    replay.add_argument(
        "--port", type=int, default=8765, help="port to serve on, 0: any free one (default: 8765)"
    )

    add("version", _print_version, "Print the version.")
    return parser


def main(args: Sequence[str] | None = None) -> int:
    arguments = make_parser().parse_args(args)
    from explore_context.dashboard.server import DashboardError
    from explore_context.model import ModelError
    from explore_context.planning import PlannerSettingsError

    try:
        return int(arguments.run(arguments))
    except BrokenPipeError:  # the reader, e.g. head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, ModelError, DashboardError, PlannerSettingsError) as error:
        print(f"explore-context: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
