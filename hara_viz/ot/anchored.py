"""The anchored solver: a free-support Wasserstein barycenter of fused points (3)-(5).

Alternates Sinkhorn for all rollouts with the closed update of the support. Features and anchor
distances are kept as two blocks rather than one fused vector: no copy of the states, and the two
parts of the cost stay apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.ot.config import SolverConfig
from hara_viz.ot.coupling import monotone_coupling
from hara_viz.ot.measures import Measures
from hara_viz.ot.scales import Scales
from hara_viz.ot.sinkhorn import SinkhornSolution, sinkhorn

# Each round is solved to this share of the support's last relative change: moving the support on
# plans that are far from their marginals ended 10-20 % above the optimum on clustered states.
_ROUND_SHARE = 0.1
# Rounds solved only just to the tolerance end in cycles of two: slack in the marginals moves the
# support by more than the tolerance on its change.
_FLOOR = 0.1


@dataclass(frozen=True, slots=True)
class Support:
    """Fused support points: one for all rollouts, or one per rollout (leave-one-out)."""

    features: Tensor
    """y [K, D] or [R, K, D], centred like the measures."""
    anchor_distances: Tensor
    """τ [K, A] or [R, K, A]."""


@dataclass(frozen=True, slots=True)
class AnchoredSolution:
    """Where the alternation ended."""

    solved_for: Support
    """The support for which `sinkhorn` holds the plans: costs are taken at it (method §5)."""
    sinkhorn: SinkhornSolution
    scales: Scales
    converged: bool
    iterations: int
    changes: tuple[float, ...]


def squared_distances(points: Tensor, squared_norms: Tensor, support: Tensor) -> Tensor:
    """‖x_i − y_k‖² [R, T, K] from points [R, T, D], their norms² [R, T], support [(R,) K, D]."""
    products = points @ support.mT
    norms = support.square().sum(-1)
    norms = norms[None, None, :] if support.dim() == 2 else norms[:, None, :]
    distances = products.mul_(-2).add_(squared_norms[..., None]).add_(norms)
    return distances.clamp_min_(0)


@dataclass(frozen=True, slots=True)
class FusedPoints:
    """The atoms f_i = (h_i, σ_i) of all rollouts, with their squared norms."""

    measures: Measures
    anchor_distances: Tensor
    """σ [R, T, A]."""
    feature_norms: Tensor
    anchor_norms: Tensor

    @staticmethod
    def build(measures: Measures, sigma: Tensor) -> FusedPoints:
        """From measures and σ."""
        return FusedPoints(
            measures, sigma, measures.features.square().sum(-1), sigma.square().sum(-1)
        )

    def feature_cost(self, support: Support) -> Tensor:
        """‖h_i − y_k‖² [R, T, K], without its weight."""
        return squared_distances(self.measures.features, self.feature_norms, support.features)

    def structure_cost(self, support: Support) -> Tensor:
        """L [R, T, K] of (3), with w_a = 1/A, without its weight."""
        n_anchors = self.anchor_distances.shape[-1]
        tau = support.anchor_distances
        return squared_distances(self.anchor_distances, self.anchor_norms, tau).div_(n_anchors)

    def cost(self, support: Support, scales: Scales) -> Tensor:
        """M [R, T, K] of (4)."""
        cost = self.feature_cost(support).mul_(scales.feature)
        return cost.add_(self.structure_cost(support), alpha=scales.structure)

    def barycentric(self, plans: Tensor) -> Support:
        """The closed update: g_k = Σ_r Σ_i π f / the mass that arrived, all rollouts together."""
        arrived = plans.sum((0, 1)).clamp_min(torch.finfo(plans.dtype).tiny)[:, None]
        flat = plans.flatten(0, 1).mT
        y = flat @ self.measures.features.flatten(0, 1) / arrived
        tau = flat @ self.anchor_distances.flatten(0, 1) / arrived
        return Support(y, tau)

    def barycentric_without_each(self, plans: Tensor) -> Support:
        """g^(−r): the same update without rollout r's own share; [R, K, …]. Needs R ≥ 2."""
        arrived = plans.sum(1)  # [R, K]
        others = (arrived.sum(0) - arrived).clamp_min(torch.finfo(plans.dtype).tiny)[..., None]
        shares_h = plans.mT @ self.measures.features
        shares_s = plans.mT @ self.anchor_distances
        return Support((shares_h.sum(0) - shares_h) / others, (shares_s.sum(0) - shares_s) / others)


def solve_anchored(points: FusedPoints, n_support: int, config: SolverConfig) -> AnchoredSolution:
    """Minimise (2) with the costs (4): the support, its plans, and how it went."""
    measures = points.measures
    support = points.barycentric(monotone_coupling(measures, n_support))
    scales = start_scales(points, support, config)
    if scales.epsilon == 0.0:
        resting = product_plan(measures, n_support)
        return AnchoredSolution(support, resting, scales, True, 0, ())
    if config.seed:
        support = perturbed(support, points, config.seed)
    return _alternate(points, support, scales, config)


def product_plan(measures: Measures, n_support: int) -> SinkhornSolution:
    """The plan p qᵀ: what is left when all points are equal."""
    plans = (measures.mass / n_support)[..., None].repeat(1, 1, n_support)
    return SinkhornSolution(plans, torch.zeros_like(plans[:, 0]), 0.0, 0)


def _alternate(
    points: FusedPoints, support: Support, scales: Scales, config: SolverConfig
) -> AnchoredSolution:
    changes: list[float] = []
    potentials = None
    for iteration in range(1, config.max_iterations + 1):
        solved = sinkhorn(
            points.cost(support, scales),
            points.measures.mass,
            scales.epsilon,
            potentials=potentials,
            tolerance=_round_tolerance(changes, config.tolerance),
        )
        moved = points.barycentric(solved.plans)
        changes.append(_relative_change(moved, support, scales))
        done = solved.marginal_error < config.tolerance and changes[-1] < config.tolerance
        if done or iteration == config.max_iterations:
            return AnchoredSolution(support, solved, scales, done, iteration, tuple(changes))
        support, potentials = moved, solved.potentials
    raise AssertionError("the loop returns in its last round")


def _round_tolerance(changes: list[float], tolerance: float) -> float:
    return max(_FLOOR * tolerance, _ROUND_SHARE * min(changes[-1:] or [1.0]))


def start_scales(points: FusedPoints, start: Support, config: SolverConfig) -> Scales:
    """Weights of (4) and the absolute ε, from the mean costs at the start (method §4)."""
    mean_feature = mean_cost(points, points.feature_cost(start))
    mean_structure = mean_cost(points, points.structure_cost(start))
    # Equal states leave rounding errors behind, relative to their size before centring.
    rounding = (4 * torch.finfo(points.measures.mass.dtype).eps) ** 2
    if mean_feature <= rounding * points.measures.scale:
        mean_feature = 0.0
    if mean_structure <= rounding * float(points.anchor_distances.square().mean()):
        mean_structure = 0.0
    feature, structure = 1.0 - config.alpha, config.alpha
    if config.cost_scale == "mean":
        feature, structure = feature / (mean_feature or 1.0), structure / (mean_structure or 1.0)
    mean = feature * mean_feature + structure * mean_structure
    return Scales(feature, structure, config.epsilon * mean)


def mean_cost(points: FusedPoints, cost: Tensor) -> float:
    """Σ_r λ_r Σ_i p_i Σ_k q_k of a cost [R, T, K]."""
    mass = points.measures.mass
    return float((mass * cost.mean(-1)).sum(dtype=torch.float64)) / points.measures.n_rollouts


def _relative_change(new: Support, old: Support, scales: Scales) -> float:
    """‖g − g_old‖ / ‖g − mean g‖ in the metric of (4)."""

    def squared(features: Tensor, anchors: Tensor) -> float:
        per_anchor = scales.structure / anchors.shape[-1]
        total = scales.feature * features.square().sum() + per_anchor * anchors.square().sum()
        return float(total)

    moved = squared(new.features - old.features, new.anchor_distances - old.anchor_distances)
    spread = squared(
        new.features - new.features.mean(0), new.anchor_distances - new.anchor_distances.mean(0)
    )
    return (moved / spread) ** 0.5 if spread > 0 else 0.0 if moved == 0 else float("inf")


def perturbed(support: Support, points: FusedPoints, seed: int) -> Support:
    """Another start: each point moved by noise as wide as the atoms' own spread."""
    generator = torch.Generator().manual_seed(seed)

    def jitter(centre: Tensor, atoms: Tensor) -> Tensor:
        mass = points.measures.mass[..., None] / points.measures.n_rollouts
        mean = (mass * atoms).sum((0, 1))
        spread = (mass * (atoms - mean).square()).sum((0, 1)).sqrt()
        noise = torch.randn(centre.shape, generator=generator, dtype=torch.float64).to(centre)
        return centre + noise * spread

    return Support(
        jitter(support.features, points.measures.features),
        jitter(support.anchor_distances, points.anchor_distances),
    )
