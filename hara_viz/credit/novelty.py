"""HarA's novelty: each token's share of the FGW cost to the pattern of its outcome class (6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from hara_viz.credit.batch import PackedBatch
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.outcomes import GroupRows
from hara_viz.credit.states import class_locations, class_states, group_anchors, group_center
from hara_viz.ot import (
    Barycenter,
    BarycenterSolution,
    Transport,
    solve_barycenter,
    transport_to_reference,
)


@dataclass(frozen=True, slots=True)
class ClassNovelty:
    """One outcome class against its reference."""

    rows: tuple[int, ...]
    barycenter: Barycenter | None
    """The class's own, whatever the reference."""
    transport: Transport | None
    """Onto the reference; None: nothing to compare with."""
    solution: BarycenterSolution | None
    """How the reference was solved; None with `transport`."""


def hara_novelty(
    batch: PackedBatch, group: GroupRows, config: CreditConfig
) -> dict[bool, ClassNovelty]:
    """Novelty of the outcome classes that occur in a group, by success."""
    present = [success for success in (True, False) if group.outcome(success)]
    inputs = _GroupInputs.build(batch, group, config)
    if config.reference == "group":
        return _against_group(inputs, group, present)
    if config.reference == "opposite_outcome":
        return _against_opposite(inputs, group, present)
    return {success: _against_own(inputs, group.outcome(success)) for success in present}


@dataclass(frozen=True, slots=True)
class _GroupInputs:
    batch: PackedBatch
    group: GroupRows
    config: CreditConfig
    center: Tensor | None
    anchors: Tensor | None

    @staticmethod
    def build(batch: PackedBatch, group: GroupRows, config: CreditConfig) -> _GroupInputs:
        center = group_center(batch, group, config)
        anchors = group_anchors(batch, group, config, center)
        return _GroupInputs(batch, group, config, center, anchors)

    def of(self, rows: tuple[int, ...]) -> tuple[list[Tensor], list[Tensor]]:
        states = class_states(self.batch, rows, self.config, self.center)
        return states, class_locations(self.batch, rows, self.group, self.config)

    def solve(self, rows: tuple[int, ...], *, leave_one_out: bool = False) -> BarycenterSolution:
        states, locations = self.of(rows)
        return solve_barycenter(
            states,
            locations,
            self.config.solver_config(),
            anchor_states=self.anchors,
            leave_one_out=leave_one_out,
        )


def _against_own(inputs: _GroupInputs, rows: tuple[int, ...]) -> ClassNovelty:
    if len(rows) < 2:
        return ClassNovelty(rows, None, None, None)
    left_out = inputs.config.reference == "leave_one_out"
    solution = inputs.solve(rows, leave_one_out=left_out)
    transport = solution.leave_one_out if left_out else solution.transport
    return ClassNovelty(rows, solution.barycenter, transport, solution)


def _against_group(
    inputs: _GroupInputs, group: GroupRows, present: Sequence[bool]
) -> dict[bool, ClassNovelty]:
    rows = group.success + group.failure
    if len(rows) < 2:
        return {s: ClassNovelty(group.outcome(s), None, None, None) for s in present}
    solution = inputs.solve(rows)
    first = len(group.success)
    found: dict[bool, ClassNovelty] = {}
    for success in present:
        own = group.outcome(success)
        part = slice(0, first) if success else slice(first, None)
        barycenter = inputs.solve(own).barycenter if len(own) > 1 else None
        transport = _part(solution.transport, part)
        found[success] = ClassNovelty(own, barycenter, transport, solution)
    return found


def _against_opposite(
    inputs: _GroupInputs, group: GroupRows, present: Sequence[bool]
) -> dict[bool, ClassNovelty]:
    solutions = {success: inputs.solve(group.outcome(success)) for success in present}
    found: dict[bool, ClassNovelty] = {}
    for success in present:
        own, other = group.outcome(success), solutions.get(not success)
        barycenter = solutions[success].barycenter if len(own) > 1 else None
        if other is None:
            found[success] = ClassNovelty(own, barycenter, None, None)
            continue
        states, locations = inputs.of(own)
        transport = transport_to_reference(
            states,
            locations,
            other.reference,
            inputs.config.solver_config(),
            anchor_states=inputs.anchors,
        )
        found[success] = ClassNovelty(own, barycenter, transport, other)
    return found


def _part(transport: Transport, part: slice) -> Transport:
    return Transport(
        transport.plans[part],
        transport.costs_feature[part],
        transport.costs_structure[part],
        transport.marginal_error,
    )
