"""The report: one file, valid, the same for the same seed; the command line's manners."""

from __future__ import annotations

import dataclasses
import html
import json
import re
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

from explore_context_evaluation.__main__ import main, parser, read_settings
from explore_context_evaluation.drawing import Chart, Series, standalone
from explore_context_evaluation.drawing.scale import Scale, log_range
from explore_context_evaluation.report import summary_table
from explore_context_evaluation.settings import PRESETS, command_options, make_settings

ROOT = Path(__file__).parents[2]
TINY = ["--systems", "2", "--rollouts", "2", "--quiet", "--jobs", "1", "--backend", "sequential"]


def _evaluate(folder: Path, *arguments: str) -> dict:
    assert main([*TINY, "--cache", str(folder / "cache"), "--output", str(folder), *arguments]) == 0
    loaded: dict = json.loads((folder / "results.json").read_text())
    return loaded


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("report")
    _evaluate(
        folder,
        "--only",
        "quadrant",
        "--only",
        "mountain_car_traj",
        "--only",
        "toy",
        "--planner",
        _planner(folder),
    )
    return folder


def _planner(folder: Path) -> str:
    path = folder / "tiny.yaml"
    path.write_text("planner: paper\niterations: 1\ncandidates: 4\nelites: 2\nsamples: 2\n")
    return str(path)


def test_the_page_is_self_contained(report: Path) -> None:
    page = (report / "index.html").read_text()
    assert "Pendulum: entropy counts quadrants" in page
    assert "<script" not in page
    loaded = re.findall(r"(?:src|href)='([^']*)'", page)
    assert all(link.startswith("#") or link == "results.json" for link in loaded), loaded
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert len(page) < 500_000


def test_figures_are_valid_svg_with_unique_names(report: Path) -> None:
    page = (report / "index.html").read_text()
    figures = re.findall(r"<svg.*?</svg>", page)
    assert len(figures) >= 3
    for figure in figures:
        ElementTree.fromstring(figure)
    names = re.findall(r" id='([^']*)'", page)
    assert len(names) == len(set(names))


def test_the_same_seed_gives_the_same_results(report: Path, tmp_path: Path) -> None:
    first = json.loads((report / "results.json").read_text())
    arguments = (
        "--only",
        "quadrant",
        "--only",
        "mountain_car_traj",
        "--only",
        "toy",
        "--planner",
        str(report / "tiny.yaml"),
    )
    second = _evaluate(tmp_path, *arguments)
    other = _evaluate(tmp_path, *arguments, "--seed", "5")
    for results in (first, second, other):
        results.pop("timings")
    assert first == second
    assert first["experiments"]["quadrant_entropy"] != other["experiments"]["quadrant_entropy"]


def test_a_folder_without_models_is_refused_and_the_old_report_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """For instance models/pendulum in place of models."""
    assert main([*TINY, "--output", str(tmp_path), "--model-folder", str(ROOT / "models/pendulum")]) == 1
    assert "holds no models; name the folder above theirs" in capsys.readouterr().err
    assert not (tmp_path / "index.html").exists()


def test_a_report_is_redrawn_from_its_results(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = json.loads((report / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps({**results, "verdict": [], "counts": {}}))
    assert main(["--redraw", "--output", str(tmp_path)]) == 0
    for name in ("results.json", "index.html", "summary.md"):
        assert (tmp_path / name).read_text() == (report / name).read_text()
    (tmp_path / "results.json").write_text("{}")
    assert main(["--redraw", "--output", str(tmp_path)]) == 1
    assert "results.json: no results of an evaluation" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "nonsense"], "no such experiment; there are pendulum_prediction"),
        (["--planner", "nonsense"], "unknown planner 'nonsense'"),
        (["--systems", "0"], "--systems: must be at least 1"),
        (["--jobs", "0"], "--jobs: must be at least 1"),
        (["--model-folder", "/no/such/folder"], "no such folder"),
        (["--scheduler", "tcp://x:1"], "has no scheduler; choose --backend dask or ray"),
    ],
)
def test_mistakes_are_named(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--cache", str(tmp_path), "--output", str(tmp_path), *arguments]) == 1
    assert message in capsys.readouterr().err


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert "pendulum_prediction" in listed
    assert "mountain_car" in listed


def test_presets_are_those_of_the_paper() -> None:
    paper = PRESETS["paper"]
    assert (paper.systems, paper.rollouts, paper.models, paper.planner) == (50, 20, 3, "paper")
    assert PRESETS["quick"].planner == "realtime"
    assert make_settings("paper", systems=7).budget_systems == 7
    assert make_settings("quick", systems=None).systems == PRESETS["quick"].systems
    assert make_settings("paper").comparison("mountain_car") == 50
    assert make_settings("quick").comparison("mountain_car") == 0


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_swing_up_is_planned_as_the_controller_ships(preset: str) -> None:
    shipped = yaml.safe_load((ROOT / "config" / "pendulum.yaml").read_text())
    planner = shipped["/**/swing_up_controller"]["ros__parameters"]["planner"]
    assert make_settings(preset).swing_up_planner == planner == "swing_up"


def test_comparison_systems_that_are_given_count_with_every_planner() -> None:
    given = make_settings("paper", comparison_systems=(3, 0))
    assert (given.comparison("pendulum"), given.comparison("mountain_car")) == (3, 0)
    assert make_settings("paper", planner="realtime").comparison("pendulum") == 10
    assert make_settings("quick", planner="paper").comparison("mountain_car") == 10


@pytest.mark.parametrize(
    "arguments",
    [
        "--preset quick",
        "--preset paper --planner realtime",
        "--preset paper --systems 7 --seed 5",
        "--preset quick --systems 20 --planner 'my planner.yaml' --budget-systems 20",
        "--preset paper --comparison-systems 3 0",
    ],
)
def test_the_report_names_the_command_that_repeats_it(
    arguments: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my planner.yaml").write_text("planner: paper\n")
    settings = read_settings(parser().parse_args(shlex.split(arguments)))
    assert sorted(shlex.split(command_options(settings))) == sorted(shlex.split(arguments))
    assert read_settings(parser().parse_args(shlex.split(command_options(settings)))) == settings


def test_the_page_says_what_was_really_done(report: Path) -> None:
    text = html.unescape((report / "index.html").read_text())
    assert "2 rollouts each, 1 model per plant" in text
    assert (
        "of swing-up: swing_up, of the ablation over transitions and rollouts: realtime (2 systems)" in text
    )
    assert "./ws evaluate --preset quick --systems 2 --rollouts 2 --planner" in text
    assert "--only toy_entropy --only toy_prediction" in text


def test_models_are_counted_per_plant() -> None:
    plants = ["pendulum", "pendulum", "mountain_car", "pendulum"]
    models = [{"plant": plant, "monotone": k < 3} for k, plant in enumerate(plants)]
    settings = dataclasses.asdict(make_settings("paper"))
    assert "1 to 2 models per plant" in summary_table({"settings": settings, "models": models}, [])
    assert "0 models per plant" in summary_table({"settings": settings, "models": []}, [])


def test_scales() -> None:
    assert log_range([0.013, 4.0], [0.0]) == (0.01, 5.0)
    scale = Scale(0.01, 10.0, 100.0, 0.0, log=True)
    assert float(scale(0.01)) == 100.0
    assert float(scale(10.0)) == pytest.approx(0.0)
    assert [label for _, label in scale.ticks()] == ["0.01", "0.1", "1", "10"]
    assert [value for value, _ in Scale(0, 50, 0, 1).ticks()] == [0, 10, 20, 30, 40, 50]


def test_a_standalone_figure_brings_its_colours() -> None:
    chart = Chart("Title <&>", "x", "y", [Series("a", [1, 2], [1.0, 2.0], "green", band=([0.5, 1], [2, 3]))])
    text = standalone(chart.svg())
    ElementTree.fromstring(text)
    assert "prefers-color-scheme:dark" in text
    assert "&lt;&amp;&gt;" in text
