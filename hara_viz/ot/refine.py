"""Coupling rounds (3b): the support points themselves become the anchors, softly.

    Σ_jl π_jl (C_r[i,j] − C_b[k,l])²  =  Σ_l q_l (σ_r[i,l] − C_b[k,l])²  +  v_r[i]       (3b)

with σ_r[i, l] = Σ_j π_r[j, l] C_r[i, j] / m_r[l], how far atom i lies from what is matched to l,
and v_r[i] ≥ 0 a variance that depends on the atom alone. An identity, not an approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.ot.anchored import FusedPoints, Support, squared_distances
from hara_viz.ot.scales import Scales
from hara_viz.ot.sinkhorn import SinkhornSolution, sinkhorn
from hara_viz.ot.structure import StructureOperator


@dataclass(frozen=True, slots=True)
class CouplingTerms:
    """What (3b) needs of a set of plans."""

    sigma: Tensor
    """[R, T, K]."""
    variance: Tensor
    """v [R, T]."""
    column_mass: Tensor
    """m [R, K]: the plans' own column marginals, nearly 1/K."""


@dataclass(frozen=True, slots=True)
class RefinedSolution:
    """A round's plans, and the costs at which they were solved."""

    sinkhorn: SinkhornSolution
    feature_cost: Tensor
    """[R, T, K] unweighted."""
    structure_cost: Tensor
    """L of (3b) [R, T, K] unweighted."""
    variance: Tensor
    """v [R, T]."""


def coupling_terms(plans: Tensor, structure: StructureOperator) -> CouplingTerms:
    """σ and v of (3b). With exact column marginals 1/K, dividing by m is multiplying by K."""
    column_mass = plans.sum(1).clamp_min(torch.finfo(plans.dtype).tiny)
    sigma = structure.times(plans) / column_mass[:, None, :]
    # q is taken as the mass that arrived, so that the identity holds for inexact marginals too.
    mean_square = (sigma.square() * column_mass[:, None, :]).sum(-1)
    variance = (structure.mean_square() - mean_square).clamp_min(0)
    return CouplingTerms(sigma, variance, column_mass)


def support_structure(plans: Tensor, sigma: Tensor) -> Tensor:
    """Per rollout the numerator π_rᵀ C_r π_r [R, K, K] of (2b), from C_r π_r = σ m."""
    return plans.mT @ (sigma * plans.sum(1)[:, None, :])


def barycenter_structure(plans: Tensor, sigma: Tensor, *, without_each: bool = False) -> Tensor:
    """C_b of (2b): [K, K], or [R, K, K] without each rollout's own share.

    Divided by the mass that arrived, Σ_r m_r[k] m_r[l], since columns are only nearly 1/K.
    """
    column_mass = plans.sum(1)
    numerators = support_structure(plans, sigma)
    masses = column_mass[:, :, None] * column_mass[:, None, :]
    total, total_mass = numerators.sum(0), masses.sum(0)
    if without_each:
        total, total_mass = total - numerators, total_mass - masses
    return total / total_mass.clamp_min(torch.finfo(plans.dtype).tiny)


def coupling_cost(terms: CouplingTerms, target: Tensor) -> Tensor:
    """L[i, k] = Σ_l q_l (σ[i, l] − C_b[k, l])²: [R, T, K] for a target [(R,) K, K]."""
    root = terms.column_mass.sqrt()[:, None, :]
    points = terms.sigma * root
    scaled = (target if target.dim() == 3 else target[None]) * root
    return squared_distances(points, points.square().sum(-1), scaled)


def refine(
    points: FusedPoints,
    structure: StructureOperator,
    start: Tensor,
    scales: Scales,
    *,
    rounds: int,
    tolerance: float,
    fixed: tuple[Support, Tensor] | None = None,
) -> RefinedSolution:
    """Run `rounds` ≥ 1 of (3b), Sinkhorn, (2b).

    Args:
        points: The rollouts.
        structure: Their C_r.
        start: Plans [R, T, K] to start from.
        scales: ε and the weights of (4), fixed from the anchored solve on.
        rounds: How many.
        tolerance: Marginal error of each solve.
        fixed: A support and C_b that do not move (leave-one-out, another class's barycenter).
    """
    # The quantile solve's potentials belong to another cost; only the rounds warm each other.
    refined = _refine_once(points, structure, (start, None), scales, tolerance, fixed)
    for _ in range(rounds - 1):
        last = (refined.sinkhorn.plans, refined.sinkhorn.potentials)
        refined = _refine_once(points, structure, last, scales, tolerance, fixed)
    return refined


def _refine_once(
    points: FusedPoints,
    structure: StructureOperator,
    last: tuple[Tensor, Tensor | None],
    scales: Scales,
    tolerance: float,
    fixed: tuple[Support, Tensor] | None,
) -> RefinedSolution:
    plans, potentials = last
    terms = coupling_terms(plans, structure)
    if fixed is None:
        support = points.barycentric(plans)
        target = barycenter_structure(plans, terms.sigma)
    else:
        support, target = fixed
    feature_cost = points.feature_cost(support)
    structure_cost = coupling_cost(terms, target)
    # The derivative of the quadratic form carries the factor 2; the score (4) does not.
    gradient = feature_cost * scales.feature + structure_cost * (2 * scales.structure)
    solved = sinkhorn(
        gradient,
        points.measures.mass,
        scales.epsilon,
        potentials=potentials,
        tolerance=tolerance,
    )
    return RefinedSolution(solved, feature_cost, structure_cost, terms.variance)
