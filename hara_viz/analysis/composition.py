"""One rollout against another, through the barycenter that both are mapped on.

Plans π_r [T_r, K] and π_s [T_s, K] onto one support compose to a coupling of the two rollouts,

    π_rs[i, j] = Σ_k π_r[i, k] π_s[j, k] / c_k,     c_k = Σ_j π_s[j, k],

whose rows keep the mass of i exactly. Rollouts of different outcomes have different supports; a
matching of the two [K, L] goes in between. The coupling itself [T_r, T_s] is never made: a row of
it costs O(T_s K), and all expected distances O((T_r + T_s) K D).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hara_viz.errors import ShapeError


@dataclass(frozen=True, slots=True)
class Composition:
    """Two rollouts over one support of L points."""

    first: np.ndarray
    """[T_r, L]: share of each token's mass, rows sum to 1."""
    second: np.ndarray
    """[T_s, L]."""

    def from_first(self, token: int) -> np.ndarray:
        """[T_s]: where a token of the first rollout finds its counterparts; sums to 1."""
        return _row(self.first[token], self.second)

    def from_second(self, token: int) -> np.ndarray:
        """[T_r]: the same the other way."""
        return _row(self.second[token], self.first)


def compose(
    first: np.ndarray, second: np.ndarray, matching: np.ndarray | None = None
) -> Composition:
    """Compose two plans.

    Args:
        first: [T_r, K], rows of any equal mass.
        second: [T_s, L].
        matching: [K, L] plan between the supports; None: both plans lead to the same one.

    Raises:
        ShapeError: the supports do not fit.
    """
    if matching is not None and matching.shape == (first.shape[1], second.shape[1]):
        first = first @ (matching / np.maximum(matching.sum(1, keepdims=True), 1e-30))
    if first.shape[1] != second.shape[1]:
        raise ShapeError(
            f"plans onto {first.shape[1]} and {second.shape[1]} points have no support in common"
        )
    return Composition(_shares(first), _shares(second))


def counterpart_gaps(
    pair: Composition, first_states: np.ndarray, second_states: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each token of either rollout, how far its counterparts lie: [T_r] and [T_s].

    √(Σ_j P(j | i) ‖h_i − h_j‖²), by the first two moments of the states that each point receives.
    """
    return (
        _gaps(pair.first, first_states, pair.second, second_states),
        _gaps(pair.second, second_states, pair.first, first_states),
    )


def _gaps(
    own: np.ndarray, own_states: np.ndarray, other: np.ndarray, other_states: np.ndarray
) -> np.ndarray:
    h, g = own_states.astype(np.float64), other_states.astype(np.float64)
    shift = g.mean(axis=0)  # large common offsets cancel before they are squared
    h, g = h - shift, g - shift
    weights = _point_weights(other)  # [T_s, L], columns sum to 1
    means = weights.T @ g
    squares = weights.T @ (g**2).sum(axis=1)
    expected = (h**2).sum(axis=1) - 2 * (h * (own @ means)).sum(axis=1) + own @ squares
    return np.sqrt(np.maximum(expected, 0.0))


def _row(shares: np.ndarray, other: np.ndarray) -> np.ndarray:
    return _point_weights(other) @ shares


def _point_weights(shares: np.ndarray) -> np.ndarray:
    """[T, L] → columns that sum to 1; a point that nothing reaches is spread evenly."""
    total = shares.sum(axis=0, keepdims=True)
    even = np.full_like(shares, 1 / len(shares))
    return np.where(total > 1e-30, shares / np.maximum(total, 1e-30), even)


def _shares(plan: np.ndarray) -> np.ndarray:
    return np.asarray(plan, np.float64) / np.maximum(plan.sum(axis=1, keepdims=True), 1e-30)
