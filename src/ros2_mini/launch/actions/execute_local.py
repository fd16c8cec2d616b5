"""Running processes: output, exit, respawn, and shutdown that escalates from SIGINT to SIGKILL."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import Any

from .._subprocess import ChildProcess
from ..action import Action
from ..conditions import evaluate_condition_expression
from ..descriptions import Executable
from ..event import Event
from ..event_handlers import OnProcessExit, OnShutdown
from ..events import Shutdown
from ..events.process import (
    ProcessExited,
    ProcessIO,
    ProcessStarted,
    ProcessStderr,
    ProcessStdout,
)
from ..launch_context import LaunchContext
from ..launch_description_entity import LaunchDescriptionEntity
from ..logging import get_logger, get_output_loggers
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitutions import LaunchConfiguration
from ..utilities import (
    normalize_to_list_of_substitutions,
    normalize_typed_substitution,
    perform_substitutions,
    perform_typed_substitution,
)
from ._escalation import OnTargetedEvent, Signaller
from ._process_output import LineSplitter


class ExecuteLocal(Action):
    """Runs a process on this machine."""

    def __init__(
        self,
        *,
        process_description: Executable,
        shell: bool = False,
        sigterm_timeout: SomeSubstitutionsType = LaunchConfiguration("sigterm_timeout", default=5),
        sigkill_timeout: SomeSubstitutionsType = LaunchConfiguration("sigkill_timeout", default=5),
        emulate_tty: bool = False,
        output: Any = "log",
        output_format: str = "[{this.process_description.final_name}] {line}",
        cached_output: bool = False,
        log_cmd: bool = False,
        on_exit: Any = None,
        respawn: bool | SomeSubstitutionsType = False,
        respawn_delay: float | None = None,
        respawn_max_retries: int = -1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.__process_description = process_description
        self.__shell = shell
        self.__sigterm_timeout = normalize_to_list_of_substitutions(sigterm_timeout)
        self.__sigkill_timeout = normalize_to_list_of_substitutions(sigkill_timeout)
        self.__emulate_tty = emulate_tty
        self.__output = os.environ.get("OVERRIDE_LAUNCH_PROCESS_OUTPUT", output)
        self.__output_format = output_format
        self.__cached_output = cached_output
        self.__log_cmd = log_cmd
        self.__on_exit = on_exit
        self.__respawn = normalize_typed_substitution(respawn, bool)
        self.__respawn_delay = respawn_delay
        self.__respawns_left = respawn_max_retries
        self.__details: dict[str, Any] | None = None
        self.__child: ChildProcess | None = None
        self.__signaller: Signaller | None = None
        self.__cached = {"stdout": b"", "stderr": b""}
        self.__completed: asyncio.Future[None] | None = None
        self.__shutdown = asyncio.Event()
        self.__escalation: asyncio.Task[None] | None = None
        self.__sigint_when_started = False

    @property
    def process_description(self) -> Executable:
        return self.__process_description

    @property
    def process_details(self) -> dict[str, Any] | None:
        """Name, command, folder, environment and process id; None before the start."""
        return self.__details

    @property
    def return_code(self) -> int | None:
        return None if self.__child is None else self.__child.returncode

    def get_stdout(self) -> str:
        return self.__cached_text("stdout")

    def get_stderr(self) -> str:
        return self.__cached_text("stderr")

    def __cached_text(self, source: str) -> str:
        if not self.__cached_output:
            raise RuntimeError(f"cached output must be true to be able to get {source}")
        return self.__cached[source].decode(errors="replace")

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        return self.__on_exit if isinstance(self.__on_exit, list) else []

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        return self.__completed

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if self.__details is not None:
            raise RuntimeError(
                f"ExecuteLocal action '{self.__process_description.final_name}': executed more than once"
            )
        description = self.__process_description
        description.prepare(context, self)
        self.__details = {
            "action": self,
            "name": description.final_name,
            "cmd": description.final_cmd,
            "cwd": description.final_cwd,
            "env": description.final_env,
        }
        if context.is_shutdown:
            return None
        output = self.__output
        if not isinstance(output, dict):
            output = perform_substitutions(context, normalize_to_list_of_substitutions(output))
        self.__loggers = get_output_loggers(description.final_name, output)
        self.__logger = get_logger(description.final_name)
        self.__may_respawn = perform_typed_substitution(context, self.__respawn, bool)
        self.__completed = context.asyncio_loop.create_future()
        context.register_event_handler(OnTargetedEvent(self))
        context.register_event_handler(OnShutdown(on_shutdown=self.__on_shutdown))
        if self.__on_exit is not None:
            context.register_event_handler(OnProcessExit(target_action=self, on_exit=self.__on_exit))
        context.add_completion_future(context.asyncio_loop.create_task(self.__supervise(context)))
        return None

    async def __supervise(self, context: LaunchContext) -> None:
        """Run the process, again and again if it is to be respawned."""
        assert self.__completed is not None
        try:
            while await self.__run_once(context) and await self.__wants_respawn(context):
                pass
        finally:
            if self.__escalation is not None:
                self.__escalation.cancel()
            self.__completed.set_result(None)

    async def __wants_respawn(self, context: LaunchContext) -> bool:
        if (
            not self.__may_respawn
            or context.is_shutdown
            or self.__shutdown.is_set()
            or self.__respawns_left == 0
        ):
            return False
        self.__respawns_left -= 1
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.__shutdown.wait(), timeout=self.__respawn_delay or 0.0)
        return not self.__shutdown.is_set()

    async def __run_once(self, context: LaunchContext) -> bool:
        """One run to its end; False if the process could not be started."""
        details = self.__details
        assert details is not None
        command = " ".join(part for part in details["cmd"] if part.strip())
        if self.__log_cmd:
            self.__logger.info(
                "process details: cmd='%s', cwd='%s', custom_env?=True", command, details["cwd"]
            )
        splitters = {
            "stdout": self.__splitter("stdout", ProcessStdout, context),
            "stderr": self.__splitter("stderr", ProcessStderr, context),
        }
        try:
            self.__child = await ChildProcess.start(
                details["cmd"],
                cwd=details["cwd"],
                env=details["env"],
                shell=self.__shell,
                emulate_tty=self.__wants_terminal(context),
                on_stdout=splitters["stdout"].feed,
                on_stderr=splitters["stderr"].feed,
            )
        except OSError as error:
            raise RuntimeError(
                f"process[{details['name']}] could not be started ({command}): {error}"
            ) from error
        self.__signaller = Signaller(self.__child, details["name"], self.__logger)
        details["pid"] = self.__child.pid
        self.__logger.info("process started with pid [%d]", self.__child.pid)
        context.emit_event_sync(ProcessStarted(**details))
        self.__child.begin_reading()
        if self.__shutdown.is_set():
            self.__begin_escalation(context, send_sigint=self.__sigint_when_started)
        returncode = await self.__child.wait()
        for splitter in splitters.values():
            splitter.flush()
        if returncode == 0:
            self.__logger.info("process has finished cleanly [pid %d]", self.__child.pid)
        else:
            self.__logger.error(
                "process has died [pid %d, exit code %d, cmd '%s'].", self.__child.pid, returncode, command
            )
        context.emit_event_sync(ProcessExited(returncode=returncode, **details))
        return True

    def __wants_terminal(self, context: LaunchContext) -> bool:
        configured = context.launch_configurations.get("emulate_tty")
        if configured is None:
            return self.__emulate_tty
        return evaluate_condition_expression(context, normalize_to_list_of_substitutions(configured))

    def __splitter(self, source: str, event_cls: type[ProcessIO], context: LaunchContext) -> LineSplitter:
        logger = self.__loggers[0 if source == "stdout" else 1]

        def on_data(data: bytes) -> None:
            if self.__cached_output:
                self.__cached[source] += data
            event = event_cls(text=data, **(self.__details or {}))
            if context.would_handle_event(event):
                context.emit_event_sync(event)

        return LineSplitter(self, self.__output_format, logger, on_data)

    def __on_shutdown(self, event: Event, context: LaunchContext) -> None:
        assert isinstance(event, Shutdown)
        # The terminal has sent Ctrl-C to the processes already; a second SIGINT would disturb their shutdown.
        self._shutdown_process(context, send_sigint=not event.due_to_sigint or context.noninteractive)

    def _shutdown_process(self, context: LaunchContext, *, send_sigint: bool) -> None:
        if self.__completed is None or self.__completed.done() or self.__shutdown.is_set():
            return
        self.__shutdown.set()
        self.__sigint_when_started = send_sigint
        if self.__child is not None and self.__child.returncode is None:
            self.__begin_escalation(context, send_sigint=send_sigint)

    def __begin_escalation(self, context: LaunchContext, *, send_sigint: bool) -> None:
        if self.__signaller is None:
            return
        sigterm, sigkill = (
            float(perform_substitutions(context, subs))
            for subs in (self.__sigterm_timeout, self.__sigkill_timeout)
        )
        escalation = self.__signaller.escalate(send_sigint, sigterm, sigkill)
        self.__escalation = context.asyncio_loop.create_task(escalation)

    def _send_signal(self, number: signal.Signals) -> None:
        if self.__signaller is not None:
            self.__signaller.send(number)
