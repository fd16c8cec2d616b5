"""The paper's results as numbers (read off its figures): the bars to beat."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "data" / "paper_results.json"


@functools.cache
def paper_results() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(FILE.read_text())
    return data


def paper_curve(figure: str, curve: str) -> list[float]:
    """Mean squared error at horizons 1..50, e.g. of ("pendulum_prediction_mse", "mpc")."""
    values: list[float] = paper_results()[figure][curve]
    return values
