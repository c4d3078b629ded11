"""Means over few problems with Student's t, and many of them tested at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit


class MeanTest(NamedTuple):
    """A mean with its 95 % interval, and how well 0 would explain it."""

    mean: float
    low: float
    high: float
    p_value: float
    """Two-sided; NaN for fewer than two values."""
    n: int


def mean_test(values: np.ndarray, level: float = 0.95) -> MeanTest:
    """One-sample t test against 0 of independent values [N], with the interval of the mean.

    Values that are all equal have no spread to estimate: p is 0, or 1 if they are 0.
    """
    values = np.asarray(values, np.float64)
    n = len(values)
    mean = float(values.mean()) if n else math.nan
    if n < 2:
        return MeanTest(mean, math.nan, math.nan, math.nan, n)
    error = float(values.std(ddof=1)) / math.sqrt(n)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    if error == 0:
        return MeanTest(mean, mean, mean, 0.0 if mean else 1.0, n)
    p_value = 2.0 * float(stdtr(n - 1, -abs(mean) / error))
    return MeanTest(mean, mean - half, mean + half, p_value, n)


def false_discovery_rates(p_values: np.ndarray) -> np.ndarray:
    """Benjamini-Hochberg: q [N] of p-values [N], NaN left out of the count and kept.

    Calling all with q ≤ 0.05 findings makes 5 % of them false, on average.
    """
    p_values = np.asarray(p_values, np.float64)
    q_values = np.full(len(p_values), np.nan)
    known = np.flatnonzero(np.isfinite(p_values))
    if not len(known):
        return q_values
    falling = known[np.argsort(-p_values[known], kind="stable")]
    ranks = np.arange(len(known), 0, -1)
    q_values[falling] = np.minimum.accumulate(p_values[falling] * len(known) / ranks).clip(max=1)
    return q_values
