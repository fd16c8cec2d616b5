"""State of a running launch: configurations, environment, locals, event queue and handlers."""

from __future__ import annotations

import asyncio
import collections
import os
from collections.abc import Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from .event import Event

if TYPE_CHECKING:
    from .event_handler import BaseEventHandler
    from .substitution import Substitution


class _Locals:
    """Read-only attribute access to a dictionary of locals."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__["_values"] = values

    def __getattr__(self, key: str) -> Any:
        values = self.__dict__["_values"]
        if key not in values:
            raise AttributeError(
                f"context.locals does not contain attribute '{key}', it contains: [{', '.join(values)}]"
            )
        return values[key]

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"can't set attribute '{key}', locals are read-only")


class LaunchContext:
    """What substitutions and actions see while the launch runs."""

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False) -> None:
        self.__argv = list(argv) if argv is not None else []
        self.__noninteractive = noninteractive
        self._event_queue: asyncio.Queue[Event] = asyncio.Queue()
        self._event_handlers: collections.deque[BaseEventHandler] = collections.deque()
        self._completion_futures: list[asyncio.Future[Any]] = []
        self.__globals: dict[str, Any] = {}
        self.__locals: dict[str, Any] = {}
        self.__locals_stack: list[dict[str, Any]] = []
        self.__launch_configurations: dict[str, Any] = {}
        self.__launch_configurations_stack: list[dict[str, Any]] = []
        self.__environment_stack: list[dict[str, str]] = []
        self.__environment_reset = dict(os.environ)
        self.__is_shutdown = False
        self.__asyncio_loop: asyncio.AbstractEventLoop | None = None

    @property
    def argv(self) -> list[str]:
        return self.__argv

    @property
    def noninteractive(self) -> bool:
        """Whether there is no terminal whose Ctrl-C reaches the launched processes by itself."""
        return self.__noninteractive

    @property
    def is_shutdown(self) -> bool:
        return self.__is_shutdown

    def _set_is_shutdown(self, state: bool) -> None:
        self.__is_shutdown = state

    @property
    def asyncio_loop(self) -> asyncio.AbstractEventLoop:
        if self.__asyncio_loop is None:
            raise RuntimeError("the launch is not running")
        return self.__asyncio_loop

    def _set_asyncio_loop(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self.__asyncio_loop = loop

    def add_completion_future(self, completion_future: asyncio.Future[Any]) -> None:
        """Let the launch wait for a future before it ends."""
        self._completion_futures.append(completion_future)

    # Locals live for the handling of one event.

    def _push_locals(self) -> None:
        self.__locals_stack.append(dict(self.__locals))

    def _pop_locals(self) -> None:
        self.__locals = self.__locals_stack.pop()

    def extend_globals(self, extensions: dict[str, Any]) -> None:
        """Add to the locals for good."""
        self.__globals.update(extensions)

    def extend_locals(self, extensions: dict[str, Any]) -> None:
        """Add to the locals until they are popped."""
        self.__locals.update(extensions)

    def get_locals_as_dict(self) -> dict[str, Any]:
        return {**self.__globals, **self.__locals}

    @property
    def locals(self) -> Any:
        return _Locals(self.get_locals_as_dict())

    # Launch configurations and environment have scopes (see GroupAction).

    def _push_launch_configurations(self) -> None:
        self.__launch_configurations_stack.append(dict(self.__launch_configurations))

    def _pop_launch_configurations(self) -> None:
        if not self.__launch_configurations_stack:
            raise RuntimeError("launch_configurations stack unexpectedly empty")
        self.__launch_configurations = self.__launch_configurations_stack.pop()

    @property
    def launch_configurations(self) -> dict[str, Any]:
        return self.__launch_configurations

    def _push_environment(self) -> None:
        self.__environment_stack.append(dict(os.environ))

    def _pop_environment(self) -> None:
        if not self.__environment_stack:
            raise RuntimeError("environment stack unexpectedly empty")
        self._replace_environment(self.__environment_stack.pop())

    def _reset_environment(self) -> None:
        self._replace_environment(self.__environment_reset)

    @staticmethod
    def _replace_environment(environment: Mapping[str, str]) -> None:
        os.environ.clear()
        os.environ.update(environment)

    @property
    def environment(self) -> MutableMapping[str, str]:
        """Environment of the processes launched from here on, which is this process's own."""
        return os.environ

    # Events.

    def would_handle_event(self, event: Event) -> bool:
        return any(handler.matches(event) for handler in self._event_handlers)

    def register_event_handler(self, event_handler: BaseEventHandler) -> None:
        """Handlers registered last are asked first."""
        self._event_handlers.appendleft(event_handler)

    def unregister_event_handler(self, event_handler: BaseEventHandler) -> None:
        self._event_handlers.remove(event_handler)

    def emit_event_sync(self, event: Event) -> None:
        self._event_queue.put_nowait(event)

    async def emit_event(self, event: Event) -> None:
        self._event_queue.put_nowait(event)

    def perform_substitution(self, substitution: Substitution) -> str:
        return substitution.perform(self)
