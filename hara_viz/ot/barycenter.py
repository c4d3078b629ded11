"""The door: FGW barycenters, anchored or exact, with everything a caller may ask of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from hara_viz.ot.anchored import Support, perturbed, start_scales
from hara_viz.ot.anchored_solve import AnchoredSolution, solve_anchored
from hara_viz.ot.config import Anchors, CostScale, Solver, SolverConfig, Structure
from hara_viz.ot.coupling import monotone_coupling
from hara_viz.ot.exact import solve_exact, transport_exact
from hara_viz.ot.problem import Problem, RolloutClass, batches
from hara_viz.ot.refine import barycenter_structure, coupling_terms, refine
from hara_viz.ot.scales import Scales
from hara_viz.ot.solution import Barycenter, BarycenterSolution, Reference, Transport
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


@torch.no_grad()
def solve_barycenter(
    features: Sequence[Tensor],
    locations: Sequence[Tensor],
    config: SolverConfig,
    *,
    anchor_states: Tensor | None = None,
    leave_one_out: bool = False,
) -> BarycenterSolution:
    """`fgw_barycenter` with a config object; `leave_one_out` as in `RolloutClass`."""
    rollouts = RolloutClass(features, locations, anchor_states, leave_one_out)
    return solve_barycenters([rollouts], config)[0]


@torch.no_grad()
def solve_barycenters(
    classes: Sequence[RolloutClass], config: SolverConfig
) -> list[BarycenterSolution]:
    """Barycenters of many classes, those of about one size solved together.

    Each gets the numbers that it would get alone; together they cost less.

    Raises:
        InvalidInputError, ShapeError: see `build_measures`.
    """
    found: dict[int, BarycenterSolution] = {}
    solve = _solve_exact if config.solver == "exact" else _solve_anchored
    for places in batches(classes, config):
        problems = [Problem.build(classes[place], config) for place in places]
        found |= dict(zip(places, solve(problems), strict=True))
    return [found[place] for place in range(len(classes))]


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
    problem = Problem.build(RolloutClass(features, locations, anchor_states), config)
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


def _solve_anchored(problems: Sequence[Problem]) -> list[BarycenterSolution]:
    config = problems[0].config
    points, sizes = [p.points for p in problems], [p.n_support for p in problems]
    solved = solve_anchored(points, sizes, config, seeds=[p.config.seed for p in problems])
    return [_finish(p, anchored) for p, anchored in zip(problems, solved, strict=True)]


def _finish(problem: Problem, anchored: AnchoredSolution) -> BarycenterSolution:
    points, structure, config = problem.points, problem.structure, problem.config
    scales, plans, support = anchored.scales, anchored.plans, anchored.support
    if config.coupling_rounds and scales.epsilon > 0.0:
        rounds, tolerance = config.coupling_rounds, config.tolerance
        refined = refine(points, structure, plans, scales, rounds=rounds, tolerance=tolerance)
        plans = refined.sinkhorn.plans
        support = points.barycentric(plans)
        transport = refined_transport(points, refined, scales)
    else:
        transport = anchored_transport(points, anchored)
    converged = anchored.converged and transport.marginal_error < config.tolerance
    left_out = None
    if problem.leave_one_out:
        each = points.barycentric_without_each(plans)
        sigma = coupling_terms(plans, structure).sigma
        each_structure = barycenter_structure(plans, sigma, without_each=True)
        left_out = transport_onto(points, structure, each, each_structure, scales, config)
    fate = (converged, len(anchored.changes), anchored.changes)
    solution = _solution(problem, plans, support, scales, transport, left_out, fate)
    return replace(solution, sketch=anchored.sketch)


def _solve_exact(problems: Sequence[Problem]) -> list[BarycenterSolution]:
    return [_solve_exact_one(problem) for problem in problems]


def _solve_exact_one(problem: Problem) -> BarycenterSolution:
    measures, points, structure = problem.measures, problem.points, problem.structure
    plans = monotone_coupling(measures, problem.n_support)
    start = points.barycentric(plans)
    start_structure = barycenter_structure(plans, coupling_terms(plans, structure).sigma)
    scales = start_scales(points, start, problem.config)
    if scales.epsilon == 0.0:
        return _solve_anchored([problem])[0]  # all points equal: the plan is p qᵀ
    if problem.config.seed:
        start = perturbed(start, points, problem.config.seed)
    exact = solve_exact(measures, structure, start, start_structure, scales, problem.config)
    left_out = None
    if problem.leave_one_out:
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
            exact.support_features.to(measures.center),
            points.barycentric(exact.padded_plans).anchor_distances,
        ),
        scales,
        exact.transport,
        left_out,
        (exact.converged, exact.iterations, exact.changes),
    )


def _solution(
    problem: Problem,
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
