"""The alternation (3)-(5) for several outcome classes at once: Sinkhorn, then the closed update.

Classes do not feel each other: each has its own support, scales, tolerance and end, its sums run
over its own rollouts alone, and shapes depend on the class alone. A class gets the same numbers
alone or in a batch.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from hara_viz.ot.anchored import FusedPoints
from hara_viz.ot.sinkhorn import SinkhornSolution, solve_scaled

# Each round is solved to this share of the support's last relative change: moving the support on
# plans that are far from their marginals ended 10-20 % above the optimum on clustered states.
_ROUND_SHARE = 0.2
# Rounds solved only just to the tolerance end in cycles of two: slack in the marginals moves the
# support by more than the tolerance on its change.
_FLOOR = 0.1
# The support is moved further than the update says: like sweeps, rounds creep in one direction. On
# 83 classes 1.4 took a sixth of the rounds off at the same objective, 1.6 no more.
_OVER = 1.4
_FIRST_SWEEPS, _WARM_SWEEPS = 12, 3


class Atoms(Protocol):
    """The points of B rollouts in F coordinates, as an operator."""

    def products(self, support: Tensor) -> Tensor:
        """f_i · g_k: [B, T, K] for g [B, K, F]."""
        ...

    def sums(self, plans: Tensor) -> Tensor:
        """Σ_i π[i, k] f_i: [B, K, F]."""
        ...

    def select(self, classes: list[int], rows: Tensor) -> Atoms:
        """Those of some classes."""
        ...


class BlockAtoms:
    """Points in one block [B, T, F]."""

    def __init__(self, block: Tensor) -> None:
        self._block = block

    def products(self, support: Tensor) -> Tensor:
        """See `Atoms`."""
        return torch.bmm(self._block, support.mT)

    def sums(self, plans: Tensor) -> Tensor:
        """See `Atoms`."""
        return torch.bmm(plans.mT, self._block)

    def select(self, classes: list[int], rows: Tensor) -> Atoms:
        """See `Atoms`."""
        return BlockAtoms(self._block[rows])


class FullAtoms:
    """States in all D dimensions, class by class, followed by their A anchor distances."""

    def __init__(self, points: list[FusedPoints]) -> None:
        self._points = points
        self._sizes = [p.measures.n_rollouts for p in points]

    def products(self, support: Tensor) -> Tensor:
        """See `Atoms`."""
        found: list[Tensor] = []
        for p, g in zip(self._points, support.split(self._sizes), strict=True):
            dim = p.measures.center.numel()
            tau = g[..., dim:]
            dots = p.measures.states.products(g[..., :dim])
            found.append(dots.baddbmm_(p.anchor_distances, tau.mT))
        return _joined(found)

    def sums(self, plans: Tensor) -> Tensor:
        """See `Atoms`."""
        found = [
            torch.cat([p.measures.states.sums(pi), torch.bmm(pi.mT, p.anchor_distances)], -1)
            for p, pi in zip(self._points, plans.split(self._sizes), strict=True)
        ]
        return _joined(found)

    def select(self, classes: list[int], rows: Tensor) -> Atoms:
        """See `Atoms`."""
        return FullAtoms([self._points[c] for c in classes])


@dataclass(frozen=True, slots=True)
class Layout:
    """Which rows belong to which class, and what is fixed for each."""

    sizes: tuple[int, ...]
    """R of each class; its rows stand together."""
    mass: Tensor
    """p [B, T]."""
    weights: Tensor
    """q [C, K]; 0 on columns that a class does not have."""
    metric: Tensor
    """Weight of each coordinate in (4) over ε: [C, F]."""

    def per_row(self, values: Tensor) -> Tensor:
        """[C, …] → [B, …]."""
        if len(self.sizes) == 1:
            return values.expand(self.sizes[0], *values.shape[1:])
        sizes = torch.tensor(self.sizes, device=values.device)
        return values.repeat_interleave(sizes, 0, output_size=sum(self.sizes))

    def per_class(self, values: Tensor) -> Tensor:
        """Sums over the rows of each class: [B, …] → [C, …]."""
        if len(self.sizes) == 1:
            return values.sum(0, keepdim=True)
        return torch.stack([part.sum(0) for part in values.split(self.sizes)])

    def spans(self) -> list[slice]:
        """Where the rows of each class stand."""
        ends = list(itertools.accumulate(self.sizes))
        return [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]

    def rows(self, classes: list[int]) -> Tensor:
        """The rows [b] of some classes."""
        spans = self.spans()
        index = [torch.arange(spans[c].start, spans[c].stop) for c in classes]
        return torch.cat(index).to(self.mass.device)

    def select(self, classes: list[int], rows: Tensor) -> Layout:
        """The layout of some classes alone."""
        sizes = tuple(self.sizes[c] for c in classes)
        return Layout(sizes, self.mass[rows], self.weights[classes], self.metric[classes])


@dataclass(frozen=True, slots=True)
class Fate:
    """Where a class is, or ended."""

    solved_for: Tensor
    """g [K, F], for which the plans were solved."""
    moved: Tensor
    """[K, F]: the update after them."""
    scaled: Tensor
    """[R, T, K]: its costs −M/ε, up to a constant per atom."""
    plans: Tensor
    """[R, T, K]."""
    potentials: Tensor
    """[R, K]."""
    errors: Tensor
    """[R]."""
    converged: bool
    changes: tuple[float, ...]


def alternate(
    atoms: Atoms,
    layout: Layout,
    support: Tensor,
    *,
    potentials: Tensor | None,
    tolerance: float,
    max_rounds: list[int],
    last_changes: list[float],
) -> list[Fate]:
    """Run every class until it has converged or used its rounds (≥ 1).

    Args:
        atoms: The points.
        layout: Their classes.
        support: g [C, K, F] to start from.
        potentials: [B, K], to start from.
        tolerance: On marginal error and relative change.
        max_rounds: For each class.
        last_changes: The last relative change of each class before this call; 1 at the start.
    """
    fates: dict[int, Fate] = {}
    classes = list(range(len(layout.sizes)))
    changes: list[list[float]] = [[] for _ in classes]
    goal = list(last_changes)
    while True:
        goals = [max(_FLOOR * tolerance, _ROUND_SHARE * min(goal[c], 1.0)) for c in classes]
        scaled, solved, moved, numbers = _round(atoms, layout, support, potentials, goals)
        staying: list[int] = []
        places = enumerate(zip(classes, layout.spans(), numbers, strict=True))
        for place, (c, rows, (change, error)) in places:
            changes[c].append(change)
            goal[c] = change
            done = error < tolerance and change < tolerance
            if not done and len(changes[c]) < max_rounds[c]:
                staying.append(place)
                continue
            fates[c] = Fate(
                support[place],
                moved[place],
                scaled[rows],
                solved.plans[rows],
                solved.potentials[rows],
                solved.errors[rows],
                done,
                tuple(changes[c]),
            )
        if not staying:
            return [fates[c] for c in sorted(fates)]
        support, potentials = support + _OVER * (moved - support), solved.potentials
        if len(staying) < len(classes):
            rows = layout.rows(staying)
            atoms, layout = atoms.select(staying, rows), layout.select(staying, rows)
            support, potentials = support[staying], potentials[rows]
            classes = [classes[place] for place in staying]


def _round(
    atoms: Atoms, layout: Layout, support: Tensor, potentials: Tensor | None, goals: list[float]
) -> tuple[Tensor, SinkhornSolution, Tensor, list[tuple[float, float]]]:
    """One round: −M/ε of the support, its plans, the update, and per class its change and error."""
    weighted = support * layout.metric[:, None]
    norms = (support * weighted).sum(-1)
    absent = torch.where(layout.weights > 0, norms, torch.inf)
    scaled = atoms.products(layout.per_row(weighted * 2)).sub_(layout.per_row(absent)[:, None])
    solved = solve_scaled(
        scaled,
        layout.mass,
        layout.per_row(layout.weights),
        potentials=potentials,
        tolerance=layout.per_row(torch.tensor(goals).to(support)),
        max_sweeps=_FIRST_SWEEPS if potentials is None else _WARM_SWEEPS,
    )
    arrived = layout.per_class(solved.column_mass)[..., None]
    moved = layout.per_class(atoms.sums(solved.plans)) / torch.where(arrived > 0, arrived, 1.0)
    return scaled, solved, moved, _changes_and_errors(moved, support, solved.errors, layout)


def _changes_and_errors(
    new: Tensor, old: Tensor, errors: Tensor, layout: Layout
) -> list[tuple[float, float]]:
    """Per class ‖g − g_old‖ / ‖g − mean g‖ in the metric of (4), and its largest error."""
    weights = layout.weights[..., None]
    mean = (weights * new).sum(1, keepdim=True)
    steps = torch.stack([new - old, new - mean], 1).square_().mul_(weights[:, None])
    squares = steps.sum(2).mul_(layout.metric[:, None]).sum(-1)
    worst = torch.stack([part.max() for part in errors.split(layout.sizes)])  # NaN stays NaN
    numbers = torch.cat([squares, worst[:, None]], -1).tolist()  # one look at the device
    return [(_relative(moved, spread), error) for moved, spread, error in numbers]


def _relative(moved: float, spread: float) -> float:
    if moved == 0.0:
        return 0.0
    return math.sqrt(moved / spread) if spread else math.inf


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)
