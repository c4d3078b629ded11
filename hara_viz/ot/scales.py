"""The numbers that are fixed at the start of a solve and stay so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scales:
    """Factors of the two costs in (4), and the entropy weight of (5)."""

    feature: float
    """1 − α, over the mean feature cost at the start if `cost_scale` is "mean"."""
    structure: float
    """α, over the mean structure cost at the start if `cost_scale` is "mean"."""
    epsilon: float
    """Absolute. 0: all points are equal (then the plan is p qᵀ), or the solver is exact."""
