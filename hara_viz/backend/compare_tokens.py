"""The same problem under two checkpoints, token by token: who corresponds to whom, and what became
usual.

All of it is transport onto fixed supports. Where the states of B can be brought into A's space
(`compare_spaces`), features and places count; else structure alone does (`structure="state"`,
α = 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from hara_viz.analysis.usage import Usage, usage
from hara_viz.backend.compare_drift import Spot, even_locations
from hara_viz.backend.compare_spaces import CommonSpace, common_space
from hara_viz.credit import CreditConfig
from hara_viz.credit.states import normalised
from hara_viz.errors import InvalidInputError
from hara_viz.ot import SolverConfig, solve_barycenter, transport_to_reference
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, RolloutGroup, is_success

__all__ = ["Alignment", "CommonSpace", "Spot", "Usage", "align_at", "usage_at"]

_SHARP = 5e-3  # ε of an alignment: a token of B has one partner, not a neighbourhood
_COUPLING_ROUNDS = 5  # towards exact GW, where structure alone decides
MAX_TOKENS = 600


class Side(NamedTuple):
    """One checkpoint's group, in plain data."""

    spot: Spot
    key: GroupKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """The tokens of a rollout of B, transported onto those of a rollout of A."""

    plan: np.ndarray
    """[T_B, T_A] over own tokens; rows sum to 1 / T_B."""
    feature: np.ndarray
    """[T_B] feature part of each token's cost; 0 where structure alone counts."""
    structure: np.ndarray
    """[T_B] structure part."""
    space: CommonSpace


def align_at(a: Side, b: Side, sample_a: int, sample_b: int, config: str) -> Alignment:
    """Align two rollouts of one problem.

    Args:
        a, b: the groups; B's tokens are mapped onto A's.
        sample_a, sample_b: the rollouts' numbers.
        config: a `CreditConfig` as JSON: α, anchors and normalising.

    Raises:
        InvalidInputError: the states are not kept, or a rollout is too long.
    """
    a, b = _sides(a, b)
    space = common_space(a.spot, b.spot)
    chosen = CreditConfig.from_json(config)
    of_a, of_b = _pair(a, b, space, chosen)
    x, y = of_a.states[of_a.row(sample_a)], of_b.states[of_b.row(sample_b)]
    if max(len(x), len(y)) > MAX_TOKENS:
        raise InvalidInputError(
            f"rollouts {sample_a} and {sample_b} have {len(x)} and {len(y)} tokens; up to "
            f"{MAX_TOKENS} are aligned, choose shorter ones"
        )
    if not len(x) or not len(y):
        raise InvalidInputError("a rollout without tokens of its own has nothing to align")
    # As many support points as A has tokens: the support is A's own tokens, hardly blurred.
    solver = _solver(space, chosen, n_support=len(x), epsilon=_SHARP)
    reference = solve_barycenter([x], [even_locations(len(x))], solver).reference
    found = transport_to_reference([y], [even_locations(len(y))], reference, solver)
    return Alignment(
        plan=found.plans[0].double().numpy(),
        feature=found.costs_feature[0].double().numpy(),
        structure=found.costs_structure[0].double().numpy(),
        space=space,
    )


def usage_at(a: Side, b: Side, success: bool, config: str) -> tuple[Usage, CommonSpace]:
    """How usual each token of both groups is under each checkpoint's pattern of one outcome.

    A rollout is held against the barycenter of the *other* rollouts of its own class, so that none
    makes itself usual.

    Raises:
        InvalidInputError: the states are not kept, or an outcome has fewer than two rollouts.
    """
    a, b = _sides(a, b)
    space = common_space(a.spot, b.spot)
    chosen = CreditConfig.from_json(config)
    sides = _pair(a, b, space, chosen)
    members: list[list[Tensor]] = []
    for side, letter in zip(sides, "AB", strict=True):
        rows = [r for r in side.rows(success) if len(side.states[r])]
        if len(rows) < 2:
            word = "right" if success else "wrong"
            raise InvalidInputError(
                f"checkpoint {letter} has {len(rows)} {word} rollouts of this problem; a pattern "
                "takes two, so choose the other outcome or another problem"
            )
        members.append([side.states[r] for r in rows])
    costs = _cross_costs(members, _solver(space, chosen, n_support=_support(members)))
    rows = [tuple(r for r in s.rows(success) if len(s.states[r])) for s in sides]
    return usage(costs, rows), space


def _cross_costs(
    members: Sequence[Sequence[Tensor]], solver: SolverConfig
) -> tuple[tuple[list[np.ndarray], ...], ...]:
    """[whose tokens][whose pattern]: costs of each rollout's tokens."""
    solved = [
        solve_barycenter(own, [even_locations(len(h)) for h in own], solver, leave_one_out=True)
        for own in members
    ]
    found: list[tuple[list[np.ndarray], ...]] = []
    for whose, own in enumerate(members):
        against: list[list[np.ndarray]] = []
        for pattern, solution in enumerate(solved):
            transport = solution.leave_one_out
            if pattern != whose or transport is None:
                lines = [even_locations(len(h)) for h in own]
                transport = transport_to_reference(own, lines, solution.reference, solver)
            against.append([cost.double().numpy() for cost in transport.costs])
        found.append(tuple(against))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _States:
    """A group with the states of its own tokens, in the common space."""

    group: RolloutGroup
    states: list[Tensor]
    threshold: float

    def row(self, sample: int) -> int:
        for row, rollout in enumerate(self.group.rollouts):
            if rollout.sample == sample:
                return row
        raise InvalidInputError(f"the group has no rollout {sample}; choose one that it has")

    def rows(self, success: bool) -> list[int]:
        outcomes = [is_success(r.reward, self.threshold) for r in self.group.rollouts]
        return [row for row, outcome in enumerate(outcomes) if outcome is success]


def _pair(a: Side, b: Side, space: CommonSpace, config: CreditConfig) -> tuple[_States, _States]:
    if space.layer is None:
        raise InvalidInputError(space.sentence)
    own, other = _load(a, space.layer), _load(b, space.layer)
    if space.fit is not None:
        fit = space.fit
        mapped = [torch.from_numpy(fit.mapped(h.float().numpy())) for h in other.states]
        other = _States(other.group, mapped, other.threshold)
    elif own.states[0].shape[1] != other.states[0].shape[1]:
        width = max(own.states[0].shape[1], other.states[0].shape[1])
        own, other = _padded(own, width), _padded(other, width)
    # Centring would take each group's mean from the group: in one space it would hide a shift.
    plain = config if config.normalize == "l2" else CreditConfig()
    return _normalised(own, plain), _normalised(other, plain)


def _load(side: Side, layer: int) -> _States:
    run: Run = open_run(side.spot.path)
    key = GroupKey(*side.key)
    states, group = run.load_states(key, layer), run.load_group(key)
    counts = [] if states is None else states.offsets.diff().tolist()
    if states is None or counts != [len(r.completion_ids) for r in group.rollouts]:
        raise InvalidInputError(
            f"{run.name} does not keep the states of this problem; fill them in with "
            f"`hara-viz states {run.name} --model CHECKPOINT`"
        )
    found = [states.rows(row) for row in range(len(group))]
    masks = [r.sampled_mask for r in group.rollouts]
    own = [
        h if m is None else h[torch.tensor(m, dtype=torch.bool)]
        for h, m in zip(found, masks, strict=True)
    ]
    return _States(group, own, run.info.success_threshold)


def _normalised(side: _States, config: CreditConfig) -> _States:
    return _States(side.group, [normalised(h, config, None) for h in side.states], side.threshold)


def _padded(side: _States, width: int) -> _States:
    """Zeros behind the states: distances inside a rollout stay what they are."""
    wider = [torch.nn.functional.pad(h.float(), (0, width - h.shape[1])) for h in side.states]
    return _States(side.group, wider, side.threshold)


def _solver(
    space: CommonSpace, config: CreditConfig, *, n_support: int, epsilon: float | None = None
) -> SolverConfig:
    epsilon = config.epsilon if epsilon is None else epsilon
    if space.fit is None:
        return SolverConfig(
            alpha=1.0,
            structure="state",
            n_support=n_support,
            epsilon=epsilon,
            refine=_COUPLING_ROUNDS,
        )
    alpha = min(config.alpha, 0.99)  # features are at hand, and decide between equal places
    return SolverConfig(
        alpha=alpha, n_support=n_support, epsilon=epsilon, n_anchors=config.n_anchors
    )


def _support(members: Sequence[Sequence[Tensor]]) -> int:
    """One K for both patterns: costs cannot be compared across K."""
    return SolverConfig().support_size([len(h) for own in members for h in own])


def _sides(a: Side, b: Side) -> tuple[Side, Side]:
    """Plain tuples as records again, after a way through pickle."""
    return Side(Spot(*a[0]), GroupKey(*a[1])), Side(Spot(*b[0]), GroupKey(*b[1]))
