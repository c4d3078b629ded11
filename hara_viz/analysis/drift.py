"""How far barycenters move between checkpoints, against how far they move by chance.

Every checkpoint's rollouts of a problem are cut into halves by sample number, alike for all
checkpoints, and each half has a barycenter of its own. Between checkpoints the distance is taken
across halves (the first half of one, the second of the other), so that rollouts drawn with the same
noise never meet; within a checkpoint its two halves give the distance that sampling alone makes:
the null. Equal policies have equal expectations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hara_viz.analysis.bootstrap import Difference, Interval, mean_interval, paired_difference
from hara_viz.analysis.gromov import gromov_distance

Halves = Mapping[str, np.ndarray]
"""problem_id -> structures [S, 2, K, K] of S splits into two halves; NaN where a half is too small.
"""


class PairDrift(NamedTuple):
    """Two checkpoints, by problem that both have."""

    problems: tuple[str, ...]
    distance: np.ndarray
    """[P] between the checkpoints."""
    null: np.ndarray
    """[P] the mean of both checkpoints' own."""


@dataclass(frozen=True, slots=True)
class Drift:
    """All pairs of C checkpoints."""

    distance: np.ndarray
    """[C, C] mean over problems; the diagonal is each checkpoint's null. NaN: no common problem."""
    excess: dict[tuple[int, int], Difference]
    """(a, b), a < b: distance minus null, over problems."""
    null: tuple[Interval, ...]
    """By checkpoint."""


def own_null(halves: Halves) -> dict[str, float]:
    """By problem: the mean distance between the halves of one checkpoint."""
    return {
        problem: float(np.mean(known))
        for problem, splits in halves.items()
        if (known := _distances(splits[:, 0], splits[:, 1]))
    }


def pair_drift(
    a: Halves, b: Halves, null_a: Mapping[str, float], null_b: Mapping[str, float]
) -> PairDrift:
    """The distance of two checkpoints in every problem that both have."""
    problems: list[str] = []
    distances: list[float] = []
    for problem in a:
        if problem not in b or problem not in null_a or problem not in null_b:
            continue
        x, y = a[problem], b[problem]
        known = _distances(x[:, 0], y[:, 1]) + _distances(x[:, 1], y[:, 0])
        if known:
            problems.append(problem)
            distances.append(float(np.mean(known)))
    null = [(null_a[problem] + null_b[problem]) / 2 for problem in problems]
    return PairDrift(tuple(problems), np.array(distances), np.array(null))


def drift_of(
    nulls: Sequence[Mapping[str, float]], pairs: Mapping[tuple[int, int], PairDrift]
) -> Drift:
    """All pairs, summed up over problems."""
    size = len(nulls)
    own = tuple(mean_interval(np.array(list(null.values()))) for null in nulls)
    distance = np.full((size, size), np.nan)
    np.fill_diagonal(distance, [interval.value for interval in own])
    excess: dict[tuple[int, int], Difference] = {}
    for (a, b), pair in pairs.items():
        excess[a, b] = paired_difference(pair.null, pair.distance)
        if len(pair.problems):
            distance[a, b] = distance[b, a] = float(pair.distance.mean())
    return Drift(distance, excess, own)


def _distances(a: np.ndarray, b: np.ndarray) -> list[float]:
    """Of each split [S, K, K] that both have."""
    return [
        gromov_distance(x, y).distance
        for x, y in zip(a, b, strict=True)
        if np.isfinite(x).all() and np.isfinite(y).all()
    ]
