"""Bootstrap over problems: rollouts of one problem depend on each other, problems do not.

Intervals are percentile intervals. All draws come from one seed, so a figure is the same whenever
it is drawn.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from hara_viz.errors import InvalidInputError, ShapeError

N_RESAMPLES = 4000
_SEED = 20261203


class Interval(NamedTuple):
    """An estimate with the ends of its 95 % interval; NaN where there is none."""

    value: float
    low: float
    high: float
    n: int
    """Problems that it rests on."""


class Difference(NamedTuple):
    """A mean paired difference, tested."""

    interval: Interval
    p_value: float
    """Two-sided: twice the smaller share of resamples on either side of 0; NaN below 2 problems."""


def mean_interval(values: np.ndarray, level: float = 0.95) -> Interval:
    """The mean of values [P] over problems, NaN left out, with a bootstrap interval.

    One problem has a mean but no interval; none has neither.
    """
    known = _known(values)
    if len(known) < 2:
        value = float(known[0]) if len(known) else float("nan")
        return Interval(value, float("nan"), float("nan"), len(known))
    low, high = np.quantile(_resampled_means(known), _ends(level))
    return Interval(float(known.mean()), float(low), float(high), len(known))


def paired_difference(a: np.ndarray, b: np.ndarray, level: float = 0.95) -> Difference:
    """The mean of b − a over the problems [P] that both know, by resampling problems.

    Raises:
        ShapeError: the two do not hold the same problems.
    """
    if np.shape(a) != np.shape(b):
        raise ShapeError(f"got {np.shape(a)} and {np.shape(b)} values to pair")
    gaps = _known(np.asarray(b, np.float64) - np.asarray(a, np.float64))
    interval = mean_interval(gaps, level)
    if len(gaps) < 2:
        return Difference(interval, float("nan"))
    draws = _resampled_means(gaps)
    # The draw that was observed counts as one of them, so that no p-value is 0.
    below, above = (draws <= 1e-12).sum() + 1, (draws >= -1e-12).sum() + 1
    return Difference(interval, min(1.0, 2.0 * float(min(below, above)) / (len(draws) + 1)))


def _resampled_means(known: np.ndarray) -> np.ndarray:
    return _counts(len(known)) @ known / len(known)


def _known(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, np.float64)
    return values[np.isfinite(values)]


def _ends(level: float) -> tuple[float, float]:
    if not 0 < level < 1:
        raise InvalidInputError(f"the level of an interval is {level}; it must be in (0, 1)")
    return (1 - level) / 2, (1 + level) / 2


@lru_cache(maxsize=8)
def _counts(n: int) -> np.ndarray:
    """[N_RESAMPLES, n]: how often each problem is drawn; the same draws for every metric."""
    generator = np.random.default_rng([_SEED, n])
    return generator.multinomial(n, np.full(n, 1.0 / n), size=N_RESAMPLES).astype(np.float64)
