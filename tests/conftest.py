"""Surroundings of every test: a private ROS domain, strict messages, logs in a temporary folder.

Set here, at import, and not in ./ws: so that a single test started by hand is as private as the whole suite.
"""

from __future__ import annotations

import atexit
import os
import random
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

PAPER = Path(__file__).parent / "paper"


def _bound_udp_ports() -> set[int]:
    """UDP ports that are in use on this machine."""
    ports = set()
    for table in (Path("/proc/net/udp"), Path("/proc/net/udp6")):
        if table.exists():
            rows = table.read_text(encoding="ascii").splitlines()[1:]
            ports |= {int(row.split()[1].rpartition(":")[2], 16) for row in rows}
    return ports


def free_ros_domain() -> int:
    """A ROS domain in 1..101 of which no port is in use (DDS: domain d owns 7400 + 250 d to 7649 + 250 d)."""
    used = {(port - 7400) // 250 for port in _bound_udp_ports()}
    free = [domain for domain in range(1, 102) if domain not in used]
    # Not from the test's seed: two suites that run at the same time must differ.
    return random.SystemRandom().choice(free)


def _set_surroundings() -> None:
    # A shell starts background jobs with SIGINT ignored, and so would be every process of the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    logs = tempfile.mkdtemp(prefix="explore_context_test_")
    atexit.register(shutil.rmtree, logs, ignore_errors=True)
    os.environ.update(
        ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST",
        ROS_DOMAIN_ID=str(free_ros_domain()),
        ROS_PYTHON_CHECK_FIELDS="1",
        ROS_LOG_DIR=logs,
        MPLBACKEND="Agg",
    )
    # Several nodes share few cores; more threads each only make them wait for each other.
    os.environ.setdefault("OMP_NUM_THREADS", "1")


_set_surroundings()


@pytest.fixture(scope="module", autouse=True)
def ros_domain() -> None:
    """Another ROS domain for every file: what one leaves on the graph, even for seconds, no other sees."""
    os.environ["ROS_DOMAIN_ID"] = str(free_ros_domain())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests (tests/paper) too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out unless --slow is given or their file is named on the command line."""
    for item in items:
        if PAPER in item.path.parents:
            item.add_marker("slow")
        if item.path.parent.name in ("ros", "launch"):
            # Real processes and DDS discovery on a machine that others share: a second try tells a defect,
            # which fails again, from a starved moment. pytest lists every rerun.
            item.add_marker(pytest.mark.flaky(reruns=2))
    if config.getoption("--slow"):
        return
    named = {Path(argument.partition("::")[0]).resolve() for argument in config.args}
    skipped = [item for item in items if item.get_closest_marker("slow") and item.path not in named]
    if skipped:
        config.hook.pytest_deselected(items=skipped)
        items[:] = [item for item in items if item not in skipped]


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium for browser tests."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    return path
