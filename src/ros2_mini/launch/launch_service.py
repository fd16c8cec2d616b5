"""The event loop of a launch."""

from __future__ import annotations

import asyncio
import logging as std_logging
import signal
import traceback
from collections.abc import Iterable
from typing import Any

from .event import Event
from .event_handler import as_entities
from .event_handlers import OnIncludeLaunchDescription, OnShutdown
from .events import IncludeLaunchDescription, Shutdown
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity
from .logging import get_logger, launch_config, log_launch_config


class LaunchService:
    """Visits launch descriptions and handles events until nothing goes on any more."""

    def __init__(
        self, *, argv: Iterable[str] | None = None, noninteractive: bool = False, debug: bool = False
    ) -> None:
        launch_config.level = std_logging.DEBUG if debug else std_logging.INFO
        self.__logger = get_logger("launch")
        self.__context = LaunchContext(argv=argv, noninteractive=noninteractive)
        self.__context.register_event_handler(OnIncludeLaunchDescription())
        self.__context.register_event_handler(OnShutdown(on_shutdown=self.__on_shutdown))
        self.__futures: list[asyncio.Future[Any]] = []
        self.__shutting_down = False
        self.__interrupted = False
        self.__return_code = 0

    @property
    def context(self) -> LaunchContext:
        return self.__context

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Visit a launch description as soon as the service runs."""
        self.emit_event(IncludeLaunchDescription(launch_description))

    def emit_event(self, event: Event) -> None:
        """Emit an event from the thread of the service."""
        self.__context.emit_event_sync(event)

    def shutdown(self) -> None:
        """Begin the shutdown of everything."""
        self._shutdown(reason="LaunchService.shutdown() called", due_to_sigint=False)

    def run(self, *, shutdown_when_idle: bool = True) -> int:
        """Run until idle; the return code is 1 if the launch itself (not a process) failed."""
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(self.run_async(shutdown_when_idle=shutdown_when_idle))
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()

    async def run_async(self, *, shutdown_when_idle: bool = True) -> int:
        loop = asyncio.get_running_loop()
        self.__context._set_asyncio_loop(loop)
        handlers = {
            signal.SIGINT: self.__on_sigint,
            signal.SIGTERM: self.__on_sigterm,
            signal.SIGQUIT: self.__on_sigterm,
        }
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler, number)
        try:
            log_launch_config(logger=self.__logger)
            while not (self.__is_idle() and self.__shutting_down):
                if self.__is_idle() and shutdown_when_idle:
                    self._shutdown(reason="idle", due_to_sigint=False)
                try:
                    await self.__process_one_event()
                except Exception as error:
                    self.__logger.debug("%s", "".join(traceback.format_exception(error)))
                    message = f"Caught exception in launch (see debug for traceback): {error}"
                    self.__logger.error("%s", message)
                    self.__return_code = 1
                    self._shutdown(reason=message, due_to_sigint=False)
            return self.__return_code
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    def __is_idle(self) -> bool:
        self.__futures = [future for future in self.__futures if not future.done()]
        completions = self.__context._completion_futures
        failed = any(
            future.done() and not future.cancelled() and future.exception() for future in completions
        )
        pending = any(not future.done() for future in completions)
        return not (self.__futures or pending or failed) and self.__context._event_queue.empty()

    async def __process_one_event(self) -> None:
        """Handle the next event, or notice that something that went on has ended."""
        queue = self.__context._event_queue
        if queue.empty():
            await self.__wait()
        if not queue.empty():
            self.__handle(queue.get_nowait())

    async def __wait(self) -> None:
        """Wait for an event or for the end of something; errors of what has ended are raised."""
        getter = asyncio.ensure_future(self.__context._event_queue.get())
        try:
            await asyncio.wait(
                {getter, *self.__futures, *self.__context._completion_futures},
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            if getter.done() and not getter.cancelled():
                self.__handle(getter.result())
            else:
                getter.cancel()
        ended = [future for future in self.__context._completion_futures if future.done()]
        for future in ended:
            self.__context._completion_futures.remove(future)
            if not future.cancelled() and future.exception() is not None:
                raise future.exception()  # type: ignore[misc]

    def __handle(self, event: Event) -> None:
        for handler in tuple(self.__context._event_handlers):
            if not handler.matches(event):
                continue
            self.__context._push_locals()
            try:
                for entity in as_entities(handler.handle(event, self.__context)):
                    self.__visit(entity)
            finally:
                self.__context._pop_locals()

    def __visit(self, entity: LaunchDescriptionEntity) -> None:
        """Visit an entity and all that it yields, depth first."""
        if not isinstance(entity, LaunchDescriptionEntity):
            raise RuntimeError(f"expected an action or another launch entity, got '{entity}'")
        sub_entities = entity.visit(self.__context)
        future = entity.get_asyncio_future()
        if future is not None:
            self.__futures.append(future)
        for sub_entity in as_entities(sub_entities):
            self.__visit(sub_entity)

    def __on_shutdown(self, event: Event, context: LaunchContext) -> None:
        self.__shutting_down = True
        context._set_is_shutdown(True)

    def _shutdown(self, *, reason: str, due_to_sigint: bool) -> None:
        if not self.__shutting_down:
            self.__context.emit_event_sync(Shutdown(reason=reason, due_to_sigint=due_to_sigint))
        self.__shutting_down = True
        self.__context._set_is_shutdown(True)

    def __on_sigint(self, _number: int) -> None:
        message = "user interrupted with ctrl-c (SIGINT)"
        if self.__interrupted:
            self.__logger.warning("%s again, ignoring...", message)
            return
        self.__interrupted = True
        self.__logger.warning("%s", message)
        self._shutdown(reason="ctrl-c (SIGINT)", due_to_sigint=True)

    def __on_sigterm(self, number: int) -> None:
        # Real launch ends at once and may leave processes behind; those of a robot are better ended in order.
        name = signal.Signals(number).name
        self.__logger.warning("%s received, shutting down", name)
        self._shutdown(reason=name, due_to_sigint=False)
