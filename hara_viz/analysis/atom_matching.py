"""Two barycenters matched with each other: which pattern of one outcome answers which of the other.

The support points of both carry equal mass, and an optimal plan between them says what corresponds
and what it costs: min over Π of Σ_kl P[k, l] ((1−α) ‖y_k − y'_l‖² + α (ℓ_k − ℓ'_l)²), solved
exactly. Such a plan has at most K + L − 1 entries, so it reads like a list of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hara_viz.errors import ShapeError


class AtomLink(NamedTuple):
    """Two atoms that correspond."""

    first: int
    """Column of the first support."""
    second: int
    """Column of the second one."""
    share: float
    """Of the first atom's mass, in [0, 1]."""
    gap: float
    """‖y − y'‖, distance of the two in the space of the states."""


@dataclass(frozen=True, slots=True)
class AtomMatching:
    """The plan between two supports."""

    plan: np.ndarray
    """[K, L]; rows sum to 1/K, columns to 1/L."""
    links: tuple[AtomLink, ...]
    """Its entries that carry at least 2 % of the first atom's mass, by first, then second."""
    cost: float
    """What the plan costs: how far the two patterns are apart."""

    def gap_of_first(self, atom: int) -> float:
        """Mean distance of an atom of the first support to what it is matched with."""
        own = [link for link in self.links if link.first == atom]
        return sum(link.share * link.gap for link in own) / sum(link.share for link in own)


def match_atoms(
    centres: np.ndarray,
    locations: np.ndarray,
    others: np.ndarray,
    other_locations: np.ndarray,
    alpha: float,
) -> AtomMatching:
    """Match two supports.

    Args:
        centres: [K, D].
        locations: [K].
        others: [L, D], in the same space.
        other_locations: [L].
        alpha: share of location in the cost, in [0, 1].

    Raises:
        ShapeError: parts that do not fit each other.
    """
    if len(centres) != len(locations) or len(others) != len(other_locations):
        raise ShapeError(
            f"{len(centres)} and {len(others)} atoms got {len(locations)} and "
            f"{len(other_locations)} locations"
        )
    gaps = np.stack([np.linalg.norm(others - centre, axis=1) for centre in centres])
    apart = (np.asarray(locations)[:, None] - np.asarray(other_locations)[None, :]) ** 2
    cost = (1 - alpha) * gaps**2 + alpha * apart
    plan = _optimal_plan(cost)
    shares = plan * len(plan)
    links = tuple(
        AtomLink(int(k), int(m), float(shares[k, m]), float(gaps[k, m]))
        for k, m in zip(*np.nonzero(shares > 0.02), strict=True)
    )
    return AtomMatching(plan, links, float((plan * cost).sum()))


def _optimal_plan(cost: np.ndarray) -> np.ndarray:
    """[K, L] with uniform marginals."""
    from scipy.optimize import linear_sum_assignment, linprog
    from scipy.sparse import csr_array, eye_array, kron, vstack

    n_first, n_second = cost.shape
    if n_first == n_second:  # a corner of Π(1/K, 1/K) is a permutation
        plan = np.zeros(cost.shape)
        plan[linear_sum_assignment(cost)] = 1 / n_first
        return plan
    rows = kron(eye_array(n_first), csr_array(np.ones((1, n_second))))
    columns = kron(csr_array(np.ones((1, n_first))), eye_array(n_second))
    solved = linprog(
        cost.ravel(),
        A_eq=vstack([rows, columns]),
        b_eq=np.concatenate([np.full(n_first, 1 / n_first), np.full(n_second, 1 / n_second)]),
        method="highs",
    )
    assert solved.x is not None, solved.message  # uniform marginals always allow a plan
    return np.maximum(solved.x, 0).reshape(cost.shape)
