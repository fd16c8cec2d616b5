"""Logging of a launch: to the screen, and to files in a folder of its own below the ROS log folder."""

from __future__ import annotations

import datetime
import logging
import os
import socket
import sys
from pathlib import Path
from typing import Any

_RESET = "\033[0m"
_LEVEL_COLOURS = {logging.WARNING: "\033[33m", logging.ERROR: "\033[31m", logging.CRITICAL: "\033[31m"}
_PROCESS_COLOURS = (
    "\033[32m",
    "\033[36m",
    "\033[35m",
    "\033[34m",
    "\033[92m",
    "\033[96m",
    "\033[95m",
    "\033[94m",
)


def _log_base() -> Path:
    """``$ROS_LOG_DIR``, else ``$ROS_HOME/log``, else ``~/.ros/log``."""
    log_dir = os.environ.get("ROS_LOG_DIR")
    if not log_dir:
        log_dir = os.path.join(os.environ.get("ROS_HOME") or os.path.join("~", ".ros"), "log")
    return Path(os.path.normpath(os.path.expanduser(log_dir)))


def _make_log_dir() -> Path | None:
    """A new folder for this launch and a link ``latest`` to it; None where nothing can be written."""
    base = _log_base()
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H-%M-%S-%f")
    folder = base / f"{stamp}-{socket.gethostname()}-{os.getpid()}"
    try:
        folder.mkdir(parents=True)
        latest = base / "latest"
        if latest.is_symlink():
            latest.unlink()
        if not latest.exists():
            latest.symlink_to(folder, target_is_directory=True)
    except OSError as error:
        if not folder.is_dir():
            print(f"[WARNING] [launch]: no log file, cannot write to {base}: {error}", file=sys.stderr)
            return None
    return folder


def _coloured() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


class _ScreenFormatter(logging.Formatter):
    """``[INFO] [name]: text`` for the launch itself, ``[name] line`` for output of processes."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        prefix = getattr(record, "process_prefix", None)
        if prefix is not None:
            colour = _PROCESS_COLOURS[getattr(record, "process_number", 0) % len(_PROCESS_COLOURS)]
            return f"{colour}{prefix}{_RESET} {text[len(prefix) + 1 :]}" if _coloured() else text
        line = f"[{record.levelname}] [{record.name}]: {text}"
        colour = _LEVEL_COLOURS.get(record.levelno, "")
        return f"{colour}{line}{_RESET}" if colour and _coloured() else line


class _ScreenHandler(logging.Handler):
    """Writes to whatever ``sys.stdout`` is at the moment, replacing what it cannot encode."""

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record) + "\n"
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        try:
            sys.stdout.write(line.encode(encoding, "replace").decode(encoding))
            sys.stdout.flush()
        except (BrokenPipeError, ValueError):
            pass  # nobody reads any more; the processes still have to be shut down in order


class _FileFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        if getattr(record, "process_prefix", None) is not None:
            return f"{record.created:.7f} {text}"
        return f"{record.created:.7f} [{record.levelname}] [{record.name}]: {text}"


class LaunchConfig:
    """Where the launch logs to."""

    def __init__(self) -> None:
        self._log_dir: Path | None = None
        self._files: dict[str, logging.Handler] = {}
        self.level = logging.INFO
        self.screen_handler = _ScreenHandler()
        self.screen_handler.setFormatter(_ScreenFormatter())

    @property
    def log_dir(self) -> str:
        """Folder of this launch's log files, made when it is first asked for."""
        if self._log_dir is None:
            self._log_dir = _make_log_dir() or Path(os.devnull)
        return str(self._log_dir)

    def get_log_file_path(self, file_name: str = "launch.log") -> str:
        return os.path.join(self.log_dir, file_name)

    def get_log_file_handler(self, file_name: str = "launch.log") -> logging.Handler:
        if file_name not in self._files:
            handler: logging.Handler
            if self.log_dir == os.devnull:
                handler = logging.NullHandler()
            else:
                handler = logging.FileHandler(self.get_log_file_path(file_name), encoding="utf-8", delay=True)
            handler.setFormatter(_FileFormatter())
            self._files[file_name] = handler
        return self._files[file_name]


launch_config = LaunchConfig()


class _Lazy(logging.Handler):
    """Hands records to the handlers of ``launch_config`` once the launch logs anything at all."""

    def emit(self, record: logging.LogRecord) -> None:
        launch_config.screen_handler.handle(record)
        launch_config.get_log_file_handler().handle(record)


_handler = _Lazy()


def get_logger(name: str | None = None) -> logging.Logger:
    """Logger that prints to the screen and to this launch's log file."""
    logger = logging.getLogger(name)
    if _handler not in logger.handlers:
        logger.addHandler(_handler)
        logger.propagate = False
    logger.setLevel(launch_config.level)
    return logger


def log_launch_config(*, logger: logging.Logger) -> None:
    """Say where the log files are."""
    logger.info("All log files can be found below %s", launch_config.log_dir)
    logger.info("Default logging verbosity is set to %s", logging.getLevelName(launch_config.level))


_OUTPUT_ALIASES: dict[str, dict[str, set[str]]] = {
    "screen": {"both": {"screen"}},
    "log": {"both": {"log"}, "stderr": {"screen"}},
    "both": {"both": {"log", "screen"}},
    "own_log": {"both": {"own_log"}, "stdout": {"own_log"}, "stderr": {"own_log"}},
    "full": {"both": {"screen", "log", "own_log"}, "stdout": {"own_log"}, "stderr": {"own_log"}},
}


def _destinations(output_config: Any) -> dict[str, set[str]]:
    if isinstance(output_config, str):
        if output_config not in _OUTPUT_ALIASES:
            raise ValueError(
                f"'{output_config}' is not a valid output, use one of {', '.join(_OUTPUT_ALIASES)}"
            )
        given: dict[str, Any] = dict(_OUTPUT_ALIASES[output_config])
    else:
        given = dict(output_config)
    for source, targets in given.items():
        given[source] = {targets} if isinstance(targets, str) else set(targets)
        if source not in ("stdout", "stderr", "both") or given[source] - {"screen", "log", "own_log"}:
            raise ValueError(
                f"output={{'{source}': {targets!r}}} is not valid: sources are stdout, stderr and both, "
                "destinations screen, log and own_log"
            )
    return given


def get_output_loggers(process_name: str, output_config: Any) -> tuple[logging.Logger, logging.Logger]:
    """Loggers for a process's standard output and standard error.

    ``output_config`` is an alias (screen, log, both, own_log, full) or a dictionary from stdout, stderr
    or both to the destinations screen, log and own_log.
    """
    config = _destinations(output_config)
    loggers = []
    for source in ("stdout", "stderr"):
        logger = logging.getLogger(f"{process_name}-{source}")
        logger.propagate = False
        logger.setLevel(logging.INFO)
        logger.handlers.clear()
        targets = config.get("both", set()) | config.get(source, set())
        if "screen" in targets:
            logger.addHandler(launch_config.screen_handler)
        if "log" in targets:
            logger.addHandler(launch_config.get_log_file_handler())
        if "own_log" in config.get(source, set()):
            logger.addHandler(launch_config.get_log_file_handler(f"{process_name}-{source}.log"))
        if "own_log" in config.get("both", set()):
            logger.addHandler(launch_config.get_log_file_handler(f"{process_name}.log"))
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        loggers.append(logger)
    return loggers[0], loggers[1]
