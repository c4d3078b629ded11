"""Rollouts onto a support that does not move: leave-one-out, the opposite outcome."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from hara_viz.ot.anchored import FusedPoints, Support, mean_cost
from hara_viz.ot.anchored_solve import AnchoredSolution, product_plan
from hara_viz.ot.config import SolverConfig
from hara_viz.ot.refine import RefinedSolution, refine
from hara_viz.ot.scales import Scales
from hara_viz.ot.sinkhorn import sinkhorn
from hara_viz.ot.solution import Transport
from hara_viz.ot.structure import StructureOperator


def transport_onto(
    points: FusedPoints,
    structure: StructureOperator,
    support: Support,
    support_structure: Tensor,
    scales: Scales,
    config: SolverConfig,
) -> Transport:
    """One Sinkhorn of each rollout against a fixed support, then the coupling rounds if any.

    Args:
        points: The rollouts.
        structure: Their C_r (used by coupling rounds only).
        support: [K, …] for all, or [R, K, …], one per rollout; features centred like the rollouts.
        support_structure: C_b [K, K] or [R, K, K].
        scales: Of the solve that made the support. If its ε is 0 (a degenerate support), ε is
            taken from the mean cost of this transport.
        config: Rounds, tolerance and the relative ε.
    """
    cost = points.cost(support, scales)
    if scales.epsilon == 0.0:
        scales = replace(scales, epsilon=config.epsilon * mean_cost(points, cost))
    if scales.epsilon == 0.0:
        plans = product_plan(points, cost.shape[-1])
        return _split(points, plans, _per_atom(points, plans, cost), support, scales, 0.0)
    solved = sinkhorn(cost, points.measures.mass, scales.epsilon, tolerance=config.tolerance)
    if config.coupling_rounds:
        refined = refine(
            points,
            structure,
            solved.plans,
            scales,
            rounds=config.coupling_rounds,
            tolerance=config.tolerance,
            fixed=(support, support_structure),
        )
        return refined_transport(points, refined, scales)
    total = _per_atom(points, solved.plans, cost)
    return _split(points, solved.plans, total, support, scales, solved.marginal_error)


def anchored_transport(points: FusedPoints, solved: AnchoredSolution) -> Transport:
    """Costs (6) of the plans that a barycenter ended with, with L of (3)."""
    plans, support, scales = solved.plans, solved.solved_for, solved.scales
    if solved.scaled is None:
        total = _per_atom(points, plans, points.cost(support, scales))
    else:
        total = points.own_cost(scales) - scales.epsilon * _per_atom(points, plans, solved.scaled)
    return _split(points, plans, total, support, scales, solved.marginal_error)


def _split(
    points: FusedPoints,
    plans: Tensor,
    total: Tensor,
    support: Support,
    scales: Scales,
    marginal_error: float,
) -> Transport:
    """The costs [R, T] in their two parts. Only the structure's is cheap to take anew."""
    structure = _per_atom(points, plans, points.structure_cost(support)) * scales.structure
    feature = (total - structure).clamp_min(0) if scales.feature else torch.zeros_like(total)
    return _transport(points, plans, feature, structure, marginal_error)


def refined_transport(points: FusedPoints, refined: RefinedSolution, scales: Scales) -> Transport:
    """Costs (6) of a coupling round, with L and v of (3b)."""
    plans = refined.sinkhorn.plans
    feature = _per_atom(points, plans, refined.feature_cost) * scales.feature
    bilinear = _per_atom(points, plans, refined.structure_cost) + refined.variance
    structure = bilinear * scales.structure
    return _transport(points, plans, feature, structure, refined.sinkhorn.marginal_error)


def _per_atom(points: FusedPoints, plans: Tensor, cost: Tensor) -> Tensor:
    """Σ_k π[i, k] M[i, k] / p_i: [R, T], 0 on padding."""
    mass = points.measures.mass
    return (plans * cost).sum(-1) / torch.where(mass > 0, mass, 1.0)


def _transport(
    points: FusedPoints, plans: Tensor, feature: Tensor, structure: Tensor, marginal_error: float
) -> Transport:
    unpad = points.measures.unpad
    return Transport(unpad(plans), unpad(feature), unpad(structure), marginal_error)
