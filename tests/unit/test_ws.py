"""The workspace command: what it says and when it rebuilds. Nothing is installed here."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INHERITED = ("EXPLORE_CONTEXT_", "ROS_", "AMENT_", "PIP_", "_ROS_", "LD_LIBRARY_PATH", "PYTHONPATH")


def outer_environment(**changes: str) -> dict[str, str]:
    """The environment of a user's shell, from outside of ./ws."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(INHERITED)}
    folders = [folder for folder in kept["PATH"].split(":") if "explore_context" not in folder]
    return {**kept, "PATH": ":".join(folders), **changes}


def ws(*arguments: str, root: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(root / "ws"), *arguments],
        env=outer_environment(**environment),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The parts of the workspace that ./ws itself reads."""
    root = tmp_path / "clone"
    root.mkdir()
    shutil.copy(ROOT / "ws", root)
    for folder in ("scripts", "requirements"):
        shutil.copytree(ROOT / folder, root / folder)
    for package in (ROOT / "src").glob("explore_context*"):
        copied = root / "src" / package.name
        copied.mkdir(parents=True)
        for file in ("package.xml", "setup.py", "setup.cfg", "CMakeLists.txt"):
            if (package / file).exists():
                shutil.copy(package / file, copied)
    shutil.copytree(ROOT / "src/explore_context_interfaces/msg", root / "src/explore_context_interfaces/msg")
    (root / "launch").mkdir()
    (root / "launch/pendulum.launch.py").touch()
    return root


def sourced(root: Path, script: str) -> str:
    """Run `script` with the functions of ./ws loaded and an environment called /env; its output."""
    program = f"set -- help; source '{root}/ws' >/dev/null; ENVIRONMENT=/env; {script}"
    return subprocess.check_output(["bash", "-c", program], env=outer_environment(), text=True, timeout=60)


def executable(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_help_names_every_verb() -> None:
    done = ws("help")
    verbs = re.findall(r"^    ([a-z0-9]+)(?:\||\))", (ROOT / "ws").read_text(encoding="utf-8"), re.MULTILINE)
    assert done.returncode == 0
    assert {"demo", "test", "build", "shell", "ros2", "python", "train", "bench", "clean"} <= set(verbs)
    for verb in verbs:
        assert re.search(rf"^  {verb}\b", done.stdout, re.MULTILINE), verb


def test_unknown_verb_exits_2_and_says_so() -> None:
    done = ws("dmeo")
    assert done.returncode == 2
    assert "unknown verb 'dmeo'" in done.stderr
    assert "usage" in done.stderr


@pytest.mark.parametrize("version", ["3.9", "3.15"])
def test_wrong_python_is_one_sentence(tmp_path: Path, version: str) -> None:
    python = executable(tmp_path / "python", f"#!/bin/sh\necho {version}\n")
    done = ws("build", EXPLORE_CONTEXT_PYTHON=str(python), EXPLORE_CONTEXT_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "needs Python 3.10 to 3.14" in done.stderr
    assert f"is {version}" in done.stderr
    assert not (tmp_path / "cache").exists()


@pytest.mark.timeout(300)  # makes a real virtual environment, slow on a busy machine
def test_no_network_is_one_sentence_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    done = ws("build", EXPLORE_CONTEXT_CACHE=str(tmp_path), PIP_NO_INDEX="1")
    assert done.returncode == 1
    assert "cannot download the Python packages" in done.stderr.splitlines()[-1]
    assert not list(tmp_path.glob("*/base"))
    assert not list(tmp_path.rglob(".complete"))


def test_unwritable_cache_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = ws("build", EXPLORE_CONTEXT_CACHE=str(tmp_path / "file/cache"))
    assert done.returncode == 1
    assert "set EXPLORE_CONTEXT_CACHE to a writable folder" in done.stderr


def test_full_disk_is_one_sentence(tmp_path: Path) -> None:
    df = executable(tmp_path / "df", "#!/bin/sh\necho Filesystem 1M Used Available\necho /dev/x 9 4 5\n")
    path = f"{df.parent}:{os.environ['PATH']}"
    done = ws("build", PATH=path, EXPLORE_CONTEXT_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "5 MB free" in done.stderr
    assert not list(tmp_path.glob("cache/*/base"))


def test_missing_compiler_names_the_line_to_run(tmp_path: Path) -> None:
    """As an ordinary user: whoever is not root gets the exact line."""
    tools = ["bash", "sh", "dirname", "cat", "sha256sum", "cut", "mkdir", "flock", "env", "python3"]
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for tool in tools:
        (bin_folder / tool).symlink_to(shutil.which(tool, path="/usr/bin:/bin") or "/nonexistent")
    executable(bin_folder / "id", "#!/bin/sh\necho 1000\n")
    done = ws("build", PATH=str(bin_folder), EXPLORE_CONTEXT_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert re.search(r"Run: sudo apt-get install -y --no-install-recommends .*cmake", done.stderr)


def test_changed_requirements_ask_for_another_environment(clone: Path) -> None:
    before = sourced(clone, "requirements_hash")
    with (clone / "requirements/runtime.txt").open("a", encoding="utf-8") as file:
        file.write("tqdm==1\n")
    assert sourced(clone, "requirements_hash") != before


@pytest.mark.parametrize(
    ("change", "rebuild"),
    [
        ("echo '# more' >> src/explore_context/setup.py", True),
        ("echo '<!-- -->' >> src/explore_context_training/package.xml", True),
        ("touch launch/new.launch.py", True),
        ("mkdir -p models/toy && touch models/toy/manifest.yaml", True),
        ("echo 'float64 x' >> src/explore_context_interfaces/msg/PlantState.msg", True),
        ("ENVIRONMENT=/other", True),
        ("echo '# changed' >> launch/pendulum.launch.py", False),
        ("mkdir -p src/explore_context/nodes && touch src/explore_context/nodes/new.py", False),
        ("mkdir -p models/.new && touch models/.new/partial.onnx", False),
    ],
)
def test_rebuilds_only_when_inputs_changed(clone: Path, change: str, rebuild: bool) -> None:
    lines = sourced(clone, f'h() {{ build_hash "$(interfaces_hash)"; }}; h; {change}; h').splitlines()
    assert len(lines) == 2
    assert (lines[0] != lines[1]) == rebuild


def test_a_users_package_in_src_is_built_along(clone: Path) -> None:
    own = clone / "src" / "my_robot"
    own.mkdir()
    (own / "setup.py").touch()
    built = sourced(clone, 'echo "${PYTHON_PACKAGES[@]}"').split()
    assert {"my_robot", "explore_context", "explore_context_training"} <= set(built)
    assert "explore_context_interfaces" not in built


def test_shell_scripts_are_clean() -> None:
    scripts = [str(ROOT / name) for name in ("ws", "scripts/environment.sh", ".ci/run", "scripts/bin/ros2")]
    shellcheck = shutil.which("shellcheck")
    if shellcheck is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run([shellcheck, "-x", *scripts], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
