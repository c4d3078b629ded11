"""HarA's novelty: each token's share of the FGW cost to the pattern of its outcome class (6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from hara_viz.credit.batch import PackedBatch
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.outcomes import GroupRows
from hara_viz.credit.states import class_locations, class_states, group_anchors, group_center
from hara_viz.ot import (
    Barycenter,
    BarycenterSolution,
    RolloutClass,
    Transport,
    solve_barycenters,
    transport_to_reference,
)

# Groups that are solved together hold at most this many numbers, since their states are upcast.
_TOGETHER = 64 * 2**20


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
    batch: PackedBatch, groups: Sequence[GroupRows], config: CreditConfig
) -> Iterator[dict[bool, ClassNovelty]]:
    """Per group the novelty of the outcome classes that occur in it, by success.

    Barycenters of many groups are solved together, which costs less and gives the same numbers.
    """
    for starts in novelty_over_starts(batch, groups, config, (config.seed,)):
        yield starts[0]


def novelty_over_starts(
    batch: PackedBatch, groups: Sequence[GroupRows], config: CreditConfig, seeds: Sequence[int]
) -> Iterator[list[dict[bool, ClassNovelty]]]:
    """`hara_novelty` from several starts: per group one entry for each of the seeds."""
    for together in _runs(batch, groups, len(seeds)):
        inputs = [_GroupInputs.build(batch, group, config) for group in together]
        solved = [(own, rows) for own in inputs for rows in _solved_rows(own.group, config)]
        wanted = [(own, rows, seed) for own, rows in solved for seed in seeds]
        left_out = config.reference == "leave_one_out"
        solutions = solve_barycenters(
            [own.rollouts(rows, leave_one_out=left_out, seed=seed) for own, rows, seed in wanted],
            config.solver_config(),
        )
        # A row belongs to one group, so its rows name a class.
        found: dict[int, dict[tuple[int, ...], BarycenterSolution]] = {seed: {} for seed in seeds}
        for (_, rows, seed), solution in zip(wanted, solutions, strict=True):
            found[seed][rows] = solution
        for own in inputs:
            yield [_novelty(own, found[seed]) for seed in seeds]


def _runs(
    batch: PackedBatch, groups: Sequence[GroupRows], copies: int
) -> Iterator[list[GroupRows]]:
    run: list[GroupRows] = []
    taken = 0
    for group in groups:
        n_tokens = sum(batch.length(row) for row in group.rows)
        size = copies * n_tokens * batch.states.shape[1]
        if run and taken + size > _TOGETHER:
            yield run
            run, taken = [], 0
        run.append(group)
        taken += size
    if run:
        yield run


def _solved_rows(group: GroupRows, config: CreditConfig) -> list[tuple[int, ...]]:
    """The sets of rows whose barycenter is needed."""
    classes = [group.success, group.failure]
    if config.reference == "opposite_outcome":
        return [rows for rows in classes if rows]
    if config.reference == "group":
        classes.append(group.success + group.failure)
    return [rows for rows in dict.fromkeys(classes) if len(rows) > 1]


Solutions = Mapping[tuple[int, ...], BarycenterSolution]


def _novelty(inputs: _GroupInputs, solutions: Solutions) -> dict[bool, ClassNovelty]:
    present = [success for success in (True, False) if inputs.group.outcome(success)]
    if inputs.config.reference == "group":
        return _against_group(inputs.group, present, solutions)
    if inputs.config.reference == "opposite_outcome":
        return _against_opposite(inputs, present, solutions)
    left_out = inputs.config.reference == "leave_one_out"
    return {
        success: _against_own(inputs.group.outcome(success), solutions, left_out)
        for success in present
    }


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

    def rollouts(
        self, rows: tuple[int, ...], *, leave_one_out: bool = False, seed: int | None = None
    ) -> RolloutClass:
        return RolloutClass(
            class_states(self.batch, rows, self.config, self.center),
            class_locations(self.batch, rows, self.group, self.config),
            self.anchors,
            leave_one_out,
            seed,
        )


def _against_own(rows: tuple[int, ...], solutions: Solutions, left_out: bool) -> ClassNovelty:
    solution = solutions.get(rows)
    if solution is None:
        return ClassNovelty(rows, None, None, None)
    transport = solution.leave_one_out if left_out else solution.transport
    return ClassNovelty(rows, solution.barycenter, transport, solution)


def _against_group(
    group: GroupRows, present: Sequence[bool], solutions: Solutions
) -> dict[bool, ClassNovelty]:
    solution = solutions.get(group.success + group.failure)
    if solution is None:
        return {s: ClassNovelty(group.outcome(s), None, None, None) for s in present}
    first = len(group.success)
    found: dict[bool, ClassNovelty] = {}
    for success in present:
        rows = group.outcome(success)
        part = slice(0, first) if success else slice(first, None)
        own = solutions.get(rows)
        barycenter = own.barycenter if own else None
        found[success] = ClassNovelty(rows, barycenter, _part(solution.transport, part), solution)
    return found


def _against_opposite(
    inputs: _GroupInputs, present: Sequence[bool], solutions: Solutions
) -> dict[bool, ClassNovelty]:
    group, found = inputs.group, dict[bool, ClassNovelty]()
    for success in present:
        rows, other = group.outcome(success), solutions.get(group.outcome(not success))
        barycenter = solutions[rows].barycenter if len(rows) > 1 else None
        if other is None:
            found[success] = ClassNovelty(rows, barycenter, None, None)
            continue
        own = inputs.rollouts(rows)
        transport = transport_to_reference(
            own.features,
            own.locations,
            other.reference,
            inputs.config.solver_config(),
            anchor_states=inputs.anchors,
        )
        found[success] = ClassNovelty(rows, barycenter, transport, other)
    return found


def _part(transport: Transport, part: slice) -> Transport:
    return Transport(
        transport.plans[part],
        transport.costs_feature[part],
        transport.costs_structure[part],
        transport.marginal_error,
    )
