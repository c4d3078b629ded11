"""The pairs (token, atom) that contribute most to a rollout's cost.

A token's cost (6) is a sum over the atoms that it flows into, n[i] = Σ_k π[i, k] M[i, k] / p_i. Its
two parts are split here in proportion to π[i, k] ‖h_i − y_k‖² and to π[i, k] L[i, k], L as in (3b),
so that pairs add up to the novelty as it was computed, whatever scales and anchors went into it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class PlanPair(NamedTuple):
    """A token and an atom that it flows into."""

    token: int
    """Row of the plan."""
    atom: int
    """Column of the plan."""
    share: float
    """Of the token's mass, in [0, 1]."""
    feature: float
    """Its part of the token's feature cost."""
    structure: float
    """Its part of the token's structure cost."""

    @property
    def cost(self) -> float:
        """Both parts; over all atoms they add up to the token's novelty."""
        return self.feature + self.structure


def top_pairs(
    plan: np.ndarray,
    states: np.ndarray,
    centres: np.ndarray,
    places: np.ndarray,
    support_structure: np.ndarray,
    feature: np.ndarray,
    structure: np.ndarray,
    top: int = 12,
) -> tuple[PlanPair, ...]:
    """The pairs of one rollout with the largest cost, largest first.

    Args:
        plan: [T, K].
        states: [T, D], in the space of the plan.
        centres: [K, D] of the support.
        places: [T], or [T, D]: C[i, j] is the distance of two rows.
        support_structure: [K, K].
        feature: [T] feature part of the tokens' costs.
        structure: [T] structure part.
        top: at most this many.
    """
    cost = feature + structure
    order = np.argsort(-cost, kind="stable")
    n_taken = min(len(order), max(64, 4 * top))
    while True:
        pairs = _pairs(order[:n_taken], plan, states, centres, places, support_structure, feature,
                       structure)  # fmt: skip
        pairs = sorted(pairs, key=lambda pair: (-pair.cost, pair.token, pair.atom))[:top]
        # No pair of a token left out can cost more than that token does.
        if n_taken == len(order) or (len(pairs) == top and pairs[-1].cost >= cost[order[n_taken]]):
            return tuple(pairs)
        n_taken = min(len(order), 2 * n_taken)


def _pairs(
    tokens: np.ndarray,
    plan: np.ndarray,
    states: np.ndarray,
    centres: np.ndarray,
    places: np.ndarray,
    support_structure: np.ndarray,
    feature: np.ndarray,
    structure: np.ndarray,
) -> list[PlanPair]:
    spots = places[:, None] if places.ndim == 1 else places
    received = plan / np.maximum(plan.sum(axis=0, keepdims=True), 1e-30)  # columns sum to 1
    found: list[PlanPair] = []
    for i in tokens.tolist():
        shares = plan[i] / max(float(plan[i].sum()), 1e-30)
        far = ((states[i] - centres) ** 2).sum(axis=1)
        distances = np.linalg.norm(spots - spots[i], axis=1)  # C[i, j]
        bent = ((distances @ received - support_structure) ** 2).mean(axis=1)
        features = feature[i] * _split(shares * far, shares)
        structures = structure[i] * _split(shares * bent, shares)
        found += [
            PlanPair(i, k, float(shares[k]), float(features[k]), float(structures[k]))
            for k in np.flatnonzero(shares > 1e-4).tolist()
        ]
    return found


def _split(parts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    total = parts.sum()
    return parts / total if total > 0 else otherwise
