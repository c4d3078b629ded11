"""What is asked for: classes of rollouts, and which of them are solved together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from hara_viz.ot.anchored import FusedPoints
from hara_viz.ot.anchored_solve import padded_columns
from hara_viz.ot.anchors import anchor_distances
from hara_viz.ot.config import SolverConfig
from hara_viz.ot.measures import Measures, build_measures, check_rollouts, padded_length
from hara_viz.ot.structure import StructureOperator, structure_operator

# Classes that are solved together hold at most this many numbers in all.
_TOGETHER = 64 * 2**20


@dataclass(frozen=True, slots=True)
class RolloutClass:
    """The rollouts of one barycenter, for `solve_barycenters`."""

    features: Sequence[Tensor]
    """R tensors [T_r, D]."""
    locations: Sequence[Tensor]
    """R tensors [T_r]."""
    anchor_states: Tensor | None = None
    """[A, D], for prompt anchors."""
    leave_one_out: bool = False
    """Add each rollout against the others: the last update without its own share, and one more
    transport at the same ε. It needs two rollouts and is None for one."""
    seed: int | None = None
    """A start of its own, so that many starts can be solved together; None: that of the config."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The rollouts in the forms that the solvers need."""

    measures: Measures
    points: FusedPoints
    structure: StructureOperator
    config: SolverConfig
    leave_one_out: bool

    @staticmethod
    def build(rollouts: RolloutClass, config: SolverConfig) -> Problem:
        """Pad, centre, measure the distances to the anchors."""
        measures = build_measures(rollouts.features, rollouts.locations)
        sigma = anchor_distances(measures, config, rollouts.anchor_states)
        operator = structure_operator(measures, config.structure)
        left_out = rollouts.leave_one_out and measures.n_rollouts > 1
        if rollouts.seed is not None:
            config = replace(config, seed=rollouts.seed)
        return Problem(measures, FusedPoints.build(measures, sigma), operator, config, left_out)

    @property
    def n_support(self) -> int:
        """K."""
        return self.config.support_size(self.measures.lengths)


def _shape(rollouts: RolloutClass, config: SolverConfig) -> tuple[object, ...]:
    """What classes that are solved together have in common."""
    first, lengths = rollouts.features[0], [len(h) for h in rollouts.features]
    double = first.dtype == torch.float64
    n_anchors = None if rollouts.anchor_states is None else len(rollouts.anchor_states)
    columns = padded_columns(config.support_size(lengths))
    return padded_length(max(lengths)), columns, first.shape[1], double, first.device, n_anchors


def batches(classes: Sequence[RolloutClass], config: SolverConfig) -> list[list[int]]:
    """Which classes are solved together: those of one padded shape, not too large in all.

    Raises:
        InvalidInputError, ShapeError: see `check_rollouts`.
    """
    buckets: dict[tuple[object, ...], list[int]] = {}
    for place, rollouts in enumerate(classes):
        check_rollouts(rollouts.features, rollouts.locations)
        buckets.setdefault(_shape(rollouts, config), []).append(place)
    return [chunk for places in buckets.values() for chunk in _chunks(places, classes)]


def _chunks(places: Sequence[int], classes: Sequence[RolloutClass]) -> list[list[int]]:
    """Runs of classes that are not too large together, since each is upcast."""
    chunks: list[list[int]] = []
    taken = _TOGETHER + 1
    for place in places:
        size = sum(h.numel() for h in classes[place].features)
        if taken + size > _TOGETHER:
            chunks.append([])
            taken = 0
        chunks[-1].append(place)
        taken += size
    return chunks
