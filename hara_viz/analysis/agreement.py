"""How much credit methods agree on the same rollouts: orders of tokens, and weight that moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hara_viz.analysis.bootstrap import Interval, mean_interval
from hara_viz.analysis.ranks import spearman
from hara_viz.errors import ShapeError


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """M methods on the rollouts of one group."""

    problem_id: str
    ranks: np.ndarray
    """[M, M] Spearman of the weights inside each outcome class, averaged over its tokens; NaN where
    a method weighs all tokens alike or was refused."""
    moved: np.ndarray
    """[M, M] share of the weight that lies on other tokens, ½ mean |w_a − w_b|."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """M methods over a problem set; [M][M] of intervals over problems."""

    ranks: tuple[tuple[Interval, ...], ...]
    moved: tuple[tuple[Interval, ...], ...]


def group_agreement(
    problem_id: str, weights: Sequence[np.ndarray | None], classes: np.ndarray
) -> GroupAgreement:
    """Compare the weights of one group.

    Args:
        problem_id: for the average over problems.
        weights: by method, [N] of all tokens; None: it was refused.
        classes: [N] the outcome class of each token; −1: not compared (unscored, or not its own).

    Raises:
        ShapeError: the weights do not fit the classes.
    """
    size = len(weights)
    ranks, moved = np.full((size, size), np.nan), np.full((size, size), np.nan)
    for i, a in enumerate(weights):
        if a is not None and len(a) != len(classes):
            raise ShapeError(f"weights of {len(a)} tokens do not fit {len(classes)}")
        for j, b in enumerate(weights[: i + 1]):
            if a is None or b is None or not (classes >= 0).any():
                continue
            ranks[i, j] = ranks[j, i] = _class_ranks(a, b, classes)
            own = classes >= 0
            moved[i, j] = moved[j, i] = 0.5 * float(np.abs(a[own] - b[own]).mean())
    return GroupAgreement(problem_id, ranks, moved)


def over_problems(groups: Sequence[GroupAgreement]) -> Agreement:
    """Means over problems, with intervals."""
    by_problem: dict[str, list[GroupAgreement]] = {}
    for group in groups:
        by_problem.setdefault(group.problem_id, []).append(group)
    return Agreement(
        _intervals({name: [g.ranks for g in own] for name, own in by_problem.items()}),
        _intervals({name: [g.moved for g in own] for name, own in by_problem.items()}),
    )


def _class_ranks(a: np.ndarray, b: np.ndarray, classes: np.ndarray) -> float:
    total, count = 0.0, 0
    for name in np.unique(classes[classes >= 0]):
        own = classes == name
        found = spearman(a[own], b[own])
        if found is not None:
            total, count = total + found * int(own.sum()), count + int(own.sum())
    return total / count if count else float("nan")


def _intervals(found: Mapping[str, Sequence[np.ndarray]]) -> tuple[tuple[Interval, ...], ...]:
    if not found:
        return ()
    stacked = np.stack([_mean(matrices) for matrices in found.values()])  # [P, M, M]
    size = stacked.shape[1]
    return tuple(tuple(mean_interval(stacked[:, i, j]) for j in range(size)) for i in range(size))


def _mean(matrices: Sequence[np.ndarray]) -> np.ndarray:
    """The mean of what is known, NaN where nothing is."""
    stacked = np.stack(matrices)
    known = np.isfinite(stacked)
    counts = known.sum(axis=0)
    sums = np.where(known, stacked, 0.0).sum(axis=0)
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
