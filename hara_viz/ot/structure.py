"""The structure matrices C_r inside a rollout, as operators.

Location structure |ℓ_i − ℓ_k| acts by prefix sums in O(TK); state structure ‖h_i − h_k‖ is kept
dense, [R, T, T].
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from hara_viz.ot.config import Structure
from hara_viz.ot.measures import Measures


class StructureOperator(Protocol):
    """Products with C_r, for all rollouts at once."""

    def times(self, plans: Tensor) -> Tensor:
        """C_r π_r: [R, T, K] → [R, T, K]."""
        ...

    def mean_square(self) -> Tensor:
        """Σ_j p_j C_r[i, j]²: [R, T]."""
        ...

    def dense(self, r: int) -> Tensor:
        """C_r [T_r, T_r] of one rollout (for the exact solver)."""
        ...


class LocationStructure:
    """C_r[i, k] = |ℓ_i − ℓ_k|."""

    def __init__(self, measures: Measures) -> None:
        self._locations = measures.locations
        self._mass = measures.mass
        self._lengths = measures.lengths

    def times(self, plans: Tensor) -> Tensor:
        """Σ_j |ℓ_i − ℓ_j| π_jk = ℓ_i (2F_ik − F_k) − (2S_ik − S_k); F, S running sums of π, ℓπ."""
        place = self._locations[..., None]
        running_mass = plans.cumsum(1)
        running_moment = (place * plans).cumsum(1)
        below = 2 * running_mass - running_mass[:, -1:]
        return place * below - (2 * running_moment - running_moment[:, -1:])

    def mean_square(self) -> Tensor:
        """Σ_j p_j (ℓ_i − ℓ_j)², from the first two moments."""
        mean = (self._mass * self._locations).sum(1, keepdim=True)
        offset = self._locations - mean
        return offset.square() + (self._mass * offset.square()).sum(1, keepdim=True)

    def dense(self, r: int) -> Tensor:
        """|ℓ_i − ℓ_k| [T_r, T_r]."""
        line = self._locations[r, : self._lengths[r]]
        return (line[:, None] - line[None, :]).abs()


class StateStructure:
    """C_r[i, k] = ‖h_i − h_k‖: needs no common basis, so two models can be compared. O(T²)."""

    def __init__(self, measures: Measures) -> None:
        self._distances = torch.cdist(measures.features, measures.features)
        self._mass = measures.mass
        self._lengths = measures.lengths

    def times(self, plans: Tensor) -> Tensor:
        """C_r π_r by a dense product."""
        return self._distances @ plans

    def mean_square(self) -> Tensor:
        """Σ_j p_j C_r[i, j]² by a dense product."""
        return (self._distances.square() @ self._mass[..., None])[..., 0]

    def dense(self, r: int) -> Tensor:
        """‖h_i − h_k‖ [T_r, T_r]."""
        return self._distances[r, : self._lengths[r], : self._lengths[r]]


def structure_operator(measures: Measures, kind: Structure) -> StructureOperator:
    """The operator of that kind."""
    return LocationStructure(measures) if kind == "location" else StateStructure(measures)
