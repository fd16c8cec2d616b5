"""Numbers for results.json: plain, rounded, reproducible."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

Array = NDArray[np.float64]

DIGITS = 6


def rounded(value: ArrayLike) -> Any:
    """Floats or (nested) lists of floats with six significant digits: readable, and more than the data are
    worth.
    """
    array = np.asarray(value, np.float64)
    if array.ndim:
        return [rounded(item) for item in array]
    return float(f"{float(array):.{DIGITS}g}")


def error_curve(errors: ArrayLike) -> dict[str, Any]:
    """Errors (systems, rollouts, horizons) as the paper plots them: mean and 20 %/80 % quantiles over all
    rollouts.

    ``standard_error`` is that of the mean over systems: rollouts on one system are not independent.
    """
    values = np.asarray(errors, np.float64)
    pooled = values.reshape(-1, values.shape[-1])
    per_system = values.mean(axis=1)
    spread = (
        per_system.std(axis=0, ddof=1) / np.sqrt(len(per_system))
        if len(per_system) > 1
        else np.full(values.shape[-1], np.nan)
    )
    low, high = np.quantile(pooled, [0.2, 0.8], axis=0)
    return {
        "mean": rounded(pooled.mean(axis=0)),
        "q20": rounded(low),
        "q80": rounded(high),
        "standard_error": None if np.isnan(spread).any() else rounded(spread),
    }


def quartiles(values: ArrayLike) -> dict[str, float]:
    """q25, median, q75 and the extremes, in the names of the paper's data."""
    array = np.asarray(values, np.float64)
    q25, median, q75 = np.quantile(array, [0.25, 0.5, 0.75])
    return {
        "q25": rounded(q25),
        "median": rounded(median),
        "q75": rounded(q75),
        "worst": rounded(array.min()),
        "best": rounded(array.max()),
    }


def rank_correlation(a: ArrayLike, b: ArrayLike) -> float | None:
    """Spearman's correlation; None where one of them is constant or there are fewer than three pairs."""
    x, y = rankdata(np.ravel(a)), rankdata(np.ravel(b))
    if len(x) < 3 or x.std() == 0 or y.std() == 0:
        return None
    return float(rounded(np.corrcoef(x, y)[0, 1]))


def coverage(transform: ArrayLike, level: float) -> float:
    """Share of true values inside the central interval of probability ``level``, from their probability
    integral transforms.
    """
    u = np.asarray(transform, np.float64)
    return float(rounded(np.mean((u >= (1 - level) / 2) & (u <= (1 + level) / 2))))
