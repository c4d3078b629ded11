"""The fused points f_i = (h_i, σ_i) of one outcome class, and what is taken of them.

Features and anchor distances are kept as two blocks rather than one fused vector: no copy of the
states, and the two parts of the cost stay apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.ot.config import SolverConfig
from hara_viz.ot.measures import Measures
from hara_viz.ot.scales import Scales


@dataclass(frozen=True, slots=True)
class Support:
    """Fused support points: one for all rollouts, or one per rollout (leave-one-out)."""

    features: Tensor
    """y [K, D] or [R, K, D], centred like the measures."""
    anchor_distances: Tensor
    """τ [K, A] or [R, K, A]."""


def squared_distances(points: Tensor, squared_norms: Tensor, support: Tensor) -> Tensor:
    """‖x_i − y_k‖² [R, T, K] from points [R, T, D], their norms² [R, T], support [(R,) K, D]."""
    return _distances(points @ support.mT, squared_norms, support)


def _distances(products: Tensor, squared_norms: Tensor, support: Tensor) -> Tensor:
    norms = support.square().sum(-1)
    norms = norms[None, None, :] if support.dim() == 2 else norms[:, None, :]
    return products.mul_(-2).add_(squared_norms[..., None]).add_(norms).clamp_min_(0)


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
        return FusedPoints(measures, sigma, measures.states.squared_norms(), sigma.square().sum(-1))

    def feature_cost(self, support: Support) -> Tensor:
        """‖h_i − y_k‖² [R, T, K], without its weight."""
        products = self.measures.states.products(support.features)
        return _distances(products, self.feature_norms, support.features)

    def structure_cost(self, support: Support) -> Tensor:
        """L [R, T, K] of (3), with w_a = 1/A, without its weight."""
        n_anchors = self.anchor_distances.shape[-1]
        tau = support.anchor_distances
        return squared_distances(self.anchor_distances, self.anchor_norms, tau).div_(n_anchors)

    def cost(self, support: Support, scales: Scales) -> Tensor:
        """M [R, T, K] of (4)."""
        cost = self.feature_cost(support).mul_(scales.feature)
        return cost.add_(self.structure_cost(support), alpha=scales.structure)

    def own_cost(self, scales: Scales) -> Tensor:
        """What ‖f_i‖² adds to every M[i, k] of (4): [R, T]."""
        anchors = self.anchor_norms * (scales.structure / self.anchor_distances.shape[-1])
        return anchors.add_(self.feature_norms, alpha=scales.feature)

    def barycentric(self, plans: Tensor) -> Support:
        """The closed update: g_k = Σ_r Σ_i π f / the mass that arrived, all rollouts together."""
        arrived = plans.sum((0, 1)).clamp_min(torch.finfo(plans.dtype).tiny)[:, None]
        y = self.measures.states.sums(plans).sum(0) / arrived
        tau = torch.bmm(plans.mT, self.anchor_distances).sum(0) / arrived
        return Support(y, tau)

    def barycentric_without_each(self, plans: Tensor) -> Support:
        """g^(−r): the same update without rollout r's own share; [R, K, …]. Needs R ≥ 2."""
        arrived = plans.sum(1)  # [R, K]
        others = (arrived.sum(0) - arrived).clamp_min(torch.finfo(plans.dtype).tiny)[..., None]
        shares_h = self.measures.states.sums(plans)
        shares_s = plans.mT @ self.anchor_distances
        return Support((shares_h.sum(0) - shares_h) / others, (shares_s.sum(0) - shares_s) / others)


def start_scales(points: FusedPoints, start: Support, config: SolverConfig) -> Scales:
    """Weights of (4) and the absolute ε, from the mean costs at the start (method §4)."""
    mass, n_rollouts = points.measures.mass, points.measures.n_rollouts
    # States are centred, so the mean of ‖h − y‖² has no mixed term.
    spread = (mass * points.feature_norms).sum() / n_rollouts
    spread = spread + start.features.square().sum(-1).mean()
    anchor_square = points.anchor_distances.square().mean()
    structure_cost = (mass * points.structure_cost(start).mean(-1)).sum() / n_rollouts
    numbers = torch.stack(
        [spread, points.measures.center.square().sum(), structure_cost, anchor_square]
    )
    mean_feature, center_square, mean_structure, anchor_scale = numbers.tolist()
    # Equal states leave rounding errors behind, relative to their size before centring.
    rounding = (4 * torch.finfo(mass.dtype).eps) ** 2
    if mean_feature <= rounding * (center_square + mean_feature):
        mean_feature = 0.0
    if mean_structure <= rounding * anchor_scale:
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
