"""Anchored barycenters of several outcome classes of one shape: sketched rounds, then full ones.

The rounds are run in a sketch of the states first, where they cost a tenth. Then the support is
lifted and the alternation goes on in all D dimensions until it has converged there. So the answer
is a fixed point of the full problem, whatever the sketch missed; the first full round's change is
the sketch's measured error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.ot.alternation import Atoms, BlockAtoms, Fate, FullAtoms, Layout, alternate
from hara_viz.ot.anchored import FusedPoints, Support, perturbed, start_scales
from hara_viz.ot.config import SolverConfig
from hara_viz.ot.coupling import monotone_coupling
from hara_viz.ot.scales import Scales
from hara_viz.ot.sketch import SKETCH_DIMS, Basis, sketch_basis
from hara_viz.ot.solution import Sketch

# Columns are padded to a multiple of this, so that classes of about the same K share a shape.
_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class AnchoredSolution:
    """Where the alternation of one class ended."""

    plans: Tensor
    """[R, T, K]."""
    marginal_error: float
    solved_for: Support
    """The support for which the plans were solved: costs are taken at it (method §5)."""
    scaled: Tensor | None
    """[R, T, K]: −M/ε of (4) at it, without what ‖f_i‖² adds; None where ε is 0."""
    support: Support
    """The update after them."""
    scales: Scales
    converged: bool
    changes: tuple[float, ...]
    sketch: Sketch | None


@dataclass(frozen=True, slots=True)
class _Start:
    points: FusedPoints
    n_support: int
    support: Support
    scales: Scales
    basis: Basis | None

    @staticmethod
    def build(points: FusedPoints, n_support: int, config: SolverConfig, seed: int) -> _Start:
        plans = monotone_coupling(points.measures, n_support)
        shares = points.measures.states.sums(plans)  # columns sum to 1/K exactly
        tau = torch.bmm(plans.mT, points.anchor_distances).mean(0) * n_support
        support = Support(shares.mean(0) * n_support, tau)
        scales = start_scales(points, support, config)
        basis = None
        if scales.epsilon and scales.feature and config.max_iterations > 1:
            basis = sketch_basis(shares.flatten(0, 1))
        if seed and scales.epsilon:
            support = perturbed(support, points, seed)
        return _Start(points, n_support, support, scales, basis)

    @property
    def rank(self) -> int:
        """Dimension of the sketch; 0: none."""
        return self.basis.directions.shape[1] if self.basis else 0

    def resting(self) -> AnchoredSolution:
        """All points equal: the plan is p qᵀ."""
        plans = product_plan(self.points, self.n_support)
        support, scales = self.support, self.scales
        return AnchoredSolution(plans, 0.0, support, None, support, scales, True, (), None)


def product_plan(points: FusedPoints, n_support: int) -> Tensor:
    """The plan p qᵀ [R, T, K]."""
    return (points.measures.mass / n_support)[..., None].repeat(1, 1, n_support)


def padded_columns(n_support: int) -> int:
    """Columns that a class of K support points is solved with."""
    return -(-n_support // _COLUMNS) * _COLUMNS


def solve_anchored(
    classes: Sequence[FusedPoints],
    n_supports: Sequence[int],
    config: SolverConfig,
    *,
    seeds: Sequence[int] | None = None,
) -> list[AnchoredSolution]:
    """Minimise (2) with the costs (4) for classes of one padded shape (T, K, D, A).

    Each gets the numbers that it would get alone. `seeds`: a start of its own for each, in place
    of `config.seed`.
    """
    each = zip(classes, n_supports, seeds or [config.seed] * len(classes), strict=True)
    starts = [_Start.build(p, k, config, seed) for p, k, seed in each]
    found: dict[int, AnchoredSolution] = {}
    for rank in (0, *SKETCH_DIMS):
        chosen = [
            i for i, start in enumerate(starts) if start.scales.epsilon and start.rank == rank
        ]
        if chosen:
            solve = _solve_sketched if rank else _solve_full
            found |= dict(zip(chosen, solve([starts[i] for i in chosen], config), strict=True))
    return [found.get(i) or start.resting() for i, start in enumerate(starts)]


def _solve_full(starts: list[_Start], config: SolverConfig) -> list[AnchoredSolution]:
    atoms = FullAtoms([start.points for start in starts])
    supports = [_fused(start.support) for start in starts]
    fates = alternate(
        atoms,
        _layout(starts, [start.points.measures.center.numel() for start in starts]),
        _stacked(supports),
        potentials=None,
        tolerance=config.tolerance,
        max_rounds=[config.max_iterations] * len(starts),
        last_changes=[1.0] * len(starts),
    )
    return [_solution(start, fate, (), None) for start, fate in zip(starts, fates, strict=True)]


def _solve_sketched(starts: list[_Start], config: SolverConfig) -> list[AnchoredSolution]:
    bases = [start.basis.directions for start in starts if start.basis]
    small, supports = _sketched(starts, bases)
    early = alternate(
        small,
        _layout(starts, [basis.shape[1] for basis in bases]),
        supports,
        potentials=None,
        tolerance=config.tolerance,
        max_rounds=[config.max_iterations - 1] * len(starts),
        last_changes=[1.0] * len(starts),
    )
    layout = _layout(starts, [start.points.measures.center.numel() for start in starts])
    atoms = FullAtoms([start.points for start in starts])
    plans = torch.cat([fate.plans for fate in early])
    arrived = layout.per_class(plans.sum(1))[..., None]
    lifted = layout.per_class(atoms.sums(plans)) / torch.where(arrived > 0, arrived, 1.0)
    late = alternate(
        atoms,
        layout,
        lifted,
        potentials=torch.cat([fate.potentials for fate in early]),
        tolerance=config.tolerance,
        max_rounds=[config.max_iterations - len(fate.changes) for fate in early],
        last_changes=[fate.changes[-1] for fate in early],
    )
    found: list[AnchoredSolution] = []
    for start, before, after in zip(starts, early, late, strict=True):
        assert start.basis is not None  # chosen so by the caller
        sketch = Sketch(
            dimension=start.rank,
            captured=start.basis.captured,
            rounds=len(before.changes),
            error=after.changes[0],
        )
        found.append(_solution(start, after, before.changes, sketch))
    return found


def _sketched(starts: list[_Start], bases: list[Tensor]) -> tuple[Atoms, Tensor]:
    """Points and supports in the coordinates of their sketches, followed by anchor distances."""
    rank, n_anchors = bases[0].shape[1], starts[0].points.anchor_distances.shape[-1]
    sizes = [start.points.measures.n_rollouts for start in starts]
    mass = starts[0].points.measures.mass
    block = mass.new_empty(sum(sizes), mass.shape[1], rank + n_anchors)
    for start, basis, rows in zip(starts, bases, block.split(sizes), strict=True):
        rows[..., :rank] = start.points.measures.states.products(basis.T)
        rows[..., rank:] = start.points.anchor_distances
    supports = [
        torch.cat([start.support.features @ basis, start.support.anchor_distances], -1)
        for start, basis in zip(starts, bases, strict=True)
    ]
    return BlockAtoms(block), _stacked(supports)


def _layout(starts: list[_Start], dims: list[int]) -> Layout:
    mass = torch.cat([start.points.measures.mass for start in starts])
    columns = padded_columns(max(start.n_support for start in starts))
    weights = mass.new_zeros(len(starts), columns)
    n_anchors = starts[0].points.anchor_distances.shape[-1]
    metric = mass.new_empty(len(starts), dims[0] + n_anchors)
    for c, start in enumerate(starts):
        scales = start.scales
        weights[c, : start.n_support] = 1.0 / start.n_support
        metric[c, : dims[c]] = scales.feature / scales.epsilon
        metric[c, dims[c] :] = scales.structure / (n_anchors * scales.epsilon)
    return Layout(tuple(s.points.measures.n_rollouts for s in starts), mass, weights, metric)


def _fused(support: Support) -> Tensor:
    return torch.cat([support.features, support.anchor_distances], -1)


def _stacked(supports: list[Tensor]) -> Tensor:
    """[C, K, F], zero on padding."""
    columns = padded_columns(max(len(g) for g in supports))
    padded = [torch.nn.functional.pad(g, (0, 0, 0, columns - len(g))) for g in supports]
    return torch.stack(padded)


def _solution(
    start: _Start, fate: Fate, before: tuple[float, ...], sketch: Sketch | None
) -> AnchoredSolution:
    k, dim = start.n_support, start.points.measures.center.numel()
    solved_for, moved = fate.solved_for[:k], fate.moved[:k]
    return AnchoredSolution(
        plans=fate.plans[..., :k],
        marginal_error=float(fate.errors.max()),
        solved_for=Support(solved_for[:, :dim], solved_for[:, dim:]),
        scaled=fate.scaled[..., :k],
        support=Support(moved[:, :dim], moved[:, dim:]),
        scales=start.scales,
        converged=fate.converged,
        changes=before + fate.changes,
        sketch=sketch,
    )
