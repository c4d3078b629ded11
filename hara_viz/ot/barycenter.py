"""The door: FGW barycenters, anchored or exact, with everything a caller may ask of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from hara_viz.ot.anchored import FusedPoints, Support, perturbed, solve_anchored, start_scales
from hara_viz.ot.anchors import anchor_distances
from hara_viz.ot.config import Anchors, CostScale, Solver, SolverConfig, Structure
from hara_viz.ot.coupling import monotone_coupling
from hara_viz.ot.exact import solve_exact, transport_exact
from hara_viz.ot.measures import Measures, build_measures
from hara_viz.ot.refine import barycenter_structure, coupling_terms, refine
from hara_viz.ot.scales import Scales
from hara_viz.ot.solution import Barycenter, BarycenterSolution, Reference, Transport
from hara_viz.ot.structure import StructureOperator, structure_operator
from hara_viz.ot.transport import anchored_transport, refined_transport, transport_onto


@torch.no_grad()
def fgw_barycenter(
    features: Sequence[Tensor],
    locations: Sequence[Tensor],
    *,
    n_support: int | Literal["auto"] = 32,
    alpha: float = 0.5,
    epsilon: float = 0.02,
    n_anchors: int = 16,
    solver: Solver = "anchored",
    anchors: Anchors = "quantile",
    refine: int = 0,
    structure: Structure = "location",
    cost_scale: CostScale = "none",
    tolerance: float = 1e-2,
    max_iterations: int = 50,
    anchor_states: Tensor | None = None,
    seed: int = 0,
) -> BarycenterSolution:
    """FGW barycenter (2) of R sequences, with plans and the cost (6) of each atom.

    Args:
        features: R tensors [T_r, D], taken as they are (no normalising); float64 is solved in
            float64, all else in float32.
        locations: R tensors [T_r], any order.
        n_support: K, or "auto".
        alpha: share of structure in the cost.
        epsilon: entropy of the plans relative to the mean cost at the start.
        n_anchors: A.
        solver: "anchored", or "exact" (POT).
        anchors: "quantile", "prompt" (needs `anchor_states`) or "coupling".
        refine: coupling rounds (3b) after the anchored solve.
        structure: "location" or "state".
        cost_scale: "none" or "mean".
        tolerance: on the marginal error and on the relative change of the support.
        max_iterations: rounds of the alternation.
        anchor_states: [A, D], for prompt anchors.
        seed: 0 = monotone start; others perturb it.

    Returns:
        A solution that reports `converged`, `iterations` and `marginal_error`; it never raises
        for want of convergence.

    Raises:
        ConfigError: a parameter is out of range.
        InvalidInputError, ShapeError: see `build_measures`.
    """
    config = SolverConfig(
        n_support=n_support,
        alpha=alpha,
        epsilon=epsilon,
        n_anchors=n_anchors,
        solver=solver,
        anchors=anchors,
        refine=refine,
        structure=structure,
        cost_scale=cost_scale,
        tolerance=tolerance,
        max_iterations=max_iterations,
        seed=seed,
    )
    return solve_barycenter(features, locations, config, anchor_states=anchor_states)


@dataclass(frozen=True, slots=True)
class _Problem:
    """The rollouts in the forms that the solvers need."""

    measures: Measures
    points: FusedPoints
    structure: StructureOperator
    config: SolverConfig

    @staticmethod
    def build(
        features: Sequence[Tensor],
        locations: Sequence[Tensor],
        config: SolverConfig,
        anchor_states: Tensor | None,
    ) -> _Problem:
        measures = build_measures(features, locations)
        sigma = anchor_distances(measures, config, anchor_states)
        operator = structure_operator(measures, config.structure)
        return _Problem(measures, FusedPoints.build(measures, sigma), operator, config)


@torch.no_grad()
def solve_barycenter(
    features: Sequence[Tensor],
    locations: Sequence[Tensor],
    config: SolverConfig,
    *,
    anchor_states: Tensor | None = None,
    leave_one_out: bool = False,
) -> BarycenterSolution:
    """`fgw_barycenter` with a config object; `leave_one_out` adds each rollout against the others.

    Leave-one-out takes the last update without the rollout's own share, and one more transport at
    the same ε; it needs two rollouts and is None for one.
    """
    problem = _Problem.build(features, locations, config, anchor_states)
    solve = _solve_exact if config.solver == "exact" else _solve_anchored
    return solve(problem, leave_one_out and len(features) > 1)


@torch.no_grad()
def transport_to_reference(
    features: Sequence[Tensor],
    locations: Sequence[Tensor],
    reference: Reference,
    config: SolverConfig,
    *,
    anchor_states: Tensor | None = None,
) -> Transport:
    """Rollouts onto the barycenter of others (the opposite outcome), at its scales and ε."""
    problem = _Problem.build(features, locations, config, anchor_states)
    y = reference.features - problem.measures.center
    if config.solver == "exact":
        transport, _ = transport_exact(
            problem.measures, problem.structure, y, reference.structure, reference.scales
        )
        return transport
    support = Support(y, reference.anchor_distances)
    return transport_onto(
        problem.points, problem.structure, support, reference.structure, reference.scales, config
    )


def _solve_anchored(problem: _Problem, leave_one_out: bool) -> BarycenterSolution:
    points, structure, config = problem.points, problem.structure, problem.config
    n_support = config.support_size(problem.measures.lengths)
    anchored = solve_anchored(points, n_support, config)
    scales, solved = anchored.scales, anchored.sinkhorn
    if config.coupling_rounds and scales.epsilon > 0.0:
        refined = refine(
            points,
            structure,
            solved,
            scales,
            rounds=config.coupling_rounds,
            tolerance=config.tolerance,
        )
        solved = refined.sinkhorn
        transport = refined_transport(points, refined, scales)
    else:
        transport = anchored_transport(
            points, solved.plans, anchored.solved_for, scales, solved.marginal_error
        )
    converged = anchored.converged and solved.marginal_error < config.tolerance
    support = points.barycentric(solved.plans)
    left_out = None
    if leave_one_out:
        each = points.barycentric_without_each(solved.plans)
        sigma = coupling_terms(solved.plans, structure).sigma
        each_structure = barycenter_structure(solved.plans, sigma, without_each=True)
        left_out = transport_onto(points, structure, each, each_structure, scales, config)
    return _solution(
        problem,
        solved.plans,
        support,
        scales,
        transport,
        left_out,
        (converged, anchored.iterations, anchored.changes),
    )


def _solve_exact(problem: _Problem, leave_one_out: bool) -> BarycenterSolution:
    measures, points, structure = problem.measures, problem.points, problem.structure
    plans = monotone_coupling(measures, problem.config.support_size(measures.lengths))
    start = points.barycentric(plans)
    start_structure = barycenter_structure(plans, coupling_terms(plans, structure).sigma)
    scales = start_scales(points, start, problem.config)
    if scales.epsilon == 0.0:
        return _solve_anchored(problem, leave_one_out)  # all points equal: the plan is p qᵀ
    if problem.config.seed:
        start = perturbed(start, points, problem.config.seed)
    exact = solve_exact(measures, structure, start, start_structure, scales, problem.config)
    left_out = None
    if leave_one_out:
        each = points.barycentric_without_each(exact.padded_plans)
        sigma = coupling_terms(exact.padded_plans, structure).sigma
        each_structure = barycenter_structure(exact.padded_plans, sigma, without_each=True)
        starts = [
            exact.padded_plans[r, :length].double().cpu().numpy()
            for r, length in enumerate(measures.lengths)
        ]
        left_out, _ = transport_exact(
            measures, structure, each.features, each_structure, scales, starts
        )
    return _solution(
        problem,
        exact.padded_plans,
        Support(
            exact.support_features.to(measures.features),
            points.barycentric(exact.padded_plans).anchor_distances,
        ),
        Scales(scales.feature, scales.structure, scales.epsilon),
        exact.transport,
        left_out,
        (exact.converged, exact.iterations, exact.changes),
    )


def _solution(
    problem: _Problem,
    plans: Tensor,
    support: Support,
    scales: Scales,
    transport: Transport,
    left_out: Transport | None,
    fate: tuple[bool, int, tuple[float, ...]],
) -> BarycenterSolution:
    """Everything handed out takes (2b) with the last plans."""
    measures = problem.measures
    structure = barycenter_structure(plans, coupling_terms(plans, problem.structure).sigma)
    arrived = plans.sum((0, 1)).clamp_min(torch.finfo(plans.dtype).tiny)
    locations = torch.einsum("rtk,rt->k", plans, measures.locations) / arrived
    features = support.features + measures.center
    weights = torch.full_like(locations, 1.0 / len(locations))
    converged, iterations, changes = fate
    return BarycenterSolution(
        Barycenter(features, structure, locations, weights),
        transport,
        converged,
        iterations,
        changes,
        Reference(features, support.anchor_distances, structure, scales),
        left_out,
    )
