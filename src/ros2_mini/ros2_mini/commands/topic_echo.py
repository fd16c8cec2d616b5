"""Output messages from a topic."""

from __future__ import annotations

import argparse
from typing import Any

from ros2_mini import graph, interfaces, qos, topics
from ros2_mini.errors import CommandError
from ros2_mini.observers import observing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic_name", help="name of the ROS topic to listen to (e.g. '/chatter')")
    parser.add_argument(
        "message_type", nargs="?", help="type of the ROS message (e.g. 'std_msgs/msg/String')"
    )
    qos.add_arguments(parser, "sensor_data")
    parser.add_argument("--csv", action="store_true", help="all fields separated by commas")
    parser.add_argument("--field", help="a field of the message, with '.' between names")
    parser.add_argument("--full-length", "-f", action="store_true", help="do not truncate arrays and strings")
    parser.add_argument(
        "--truncate-length", "-l", type=int, default=128, help="length to truncate to (default: 128)"
    )
    parser.add_argument("--no-arr", action="store_true", help="don't print array fields of messages")
    parser.add_argument("--no-str", action="store_true", help="don't print string fields of messages")
    parser.add_argument("--flow-style", action="store_true", help="print collections in the flow style")
    parser.add_argument("--once", action="store_true", help="print the first message received and then exit")
    parser.add_argument("--timeout", metavar="N", type=float, help="give up after N seconds without message")


def main(args: argparse.Namespace) -> int:
    fields = None if args.field is None else [part for part in args.field.split(".") if part]
    if fields == []:
        raise CommandError(f"Invalid field value '{args.field}'")
    if args.timeout is not None and args.timeout <= 0:
        raise CommandError("timeout must be greater than zero")
    topic = graph.expand(args.topic_name)
    with graph.graph_node() as node:
        with observing(node) as view:
            cls = (
                topics.require_class(view, topic)
                if args.message_type is None
                else interfaces.get_class(args.message_type, "msg")
            )
            view.settle(lambda: bool(view.publishers(topic)))
            profile = qos.matching(view.publishers(topic), args)
        return _listen(node, cls, topic, profile, args, fields)


def _listen(
    node: Any, cls: Any, topic: str, profile: Any, args: argparse.Namespace, fields: list[str] | None
) -> int:
    import rclpy
    from rclpy.task import Future

    from ros2_mini.message_text import is_message

    done: Future = Future()

    def on_message(message: Any) -> None:
        if args.once and done.done():
            return
        shown = _select(message, fields)
        one_line = args.csv and is_message(shown)
        print(_text(shown, args), end="\n" if one_line else "---\n", flush=True)
        if args.once:
            done.set_result(0)

    node.create_subscription(cls, topic, on_message, profile)
    if args.timeout is not None:
        node.create_timer(args.timeout, lambda: None if done.done() else done.set_result(0))
    rclpy.spin_until_future_complete(node, done)
    if not done.done():
        raise KeyboardInterrupt
    return done.result()


def _select(message: Any, fields: list[str] | None) -> Any:
    for name in fields or []:
        try:
            message = getattr(message, name)
        except AttributeError as error:
            raise CommandError(f"Invalid field '{'.'.join(fields or [])}': {error}") from error
    return message


def _text(value: Any, args: argparse.Namespace) -> str:
    from ros2_mini import message_text

    if not message_text.is_message(value):
        return f"{value}\n"
    length = None if args.full_length else args.truncate_length
    options = {"truncate_length": length, "no_arr": args.no_arr, "no_str": args.no_str}
    if args.csv:
        return message_text.to_csv(value, **options)
    return message_text.to_yaml(value, flow_style=args.flow_style, **options)
