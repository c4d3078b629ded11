"""Transport plans of a group, ready to be read: plans, states in the plans' space, atoms in words.

`credit_group` answers with plans onto the configured reference. Here they are put together with
what a reader needs to make sense of a column: which tokens stand for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from hara_viz.analysis.atom_matching import AtomMatching, match_atoms
from hara_viz.analysis.atoms import Atom, atom_centres, describe_atoms
from hara_viz.backend.credit import GroupCredit, credit_group
from hara_viz.credit import CreditConfig, OutcomeClass
from hara_viz.credit.batch import build_batch
from hara_viz.credit.outcomes import group_rows
from hara_viz.credit.states import class_locations, class_states, group_center
from hara_viz.errors import InvalidInputError
from hara_viz.store import Run
from hara_viz.types import GroupKey

__all__ = ["ClassAtoms", "GroupTransport", "RowValues", "row_values", "transport_group"]

RowValues = dict[int, tuple[np.ndarray, np.ndarray]]
"""By row of the group: normalised states [T, D] and locations [T] of its own tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAtoms:
    """A barycenter in words."""

    success: bool
    atoms: tuple[Atom, ...]
    """In reading order; `Mention.row` is a row of the group, `Mention.token` an own token."""
    centres: np.ndarray
    """[K, D] by column, in the space of the normalised states."""
    rows: tuple[int, ...]
    """Rows of the group whose tokens the atoms are made of."""
    plans: tuple[np.ndarray, ...]
    """Their plans [T_r, K]."""
    costs: tuple[float, ...]
    """What each of these plans costs: the mean novelty of the row's own tokens."""

    @property
    def closest(self) -> int:
        """The row whose plan costs least: the real rollout that comes nearest to the barycenter."""
        return self.rows[int(np.argmin(self.costs))]

    @property
    def locations(self) -> np.ndarray:
        """[K] by column."""
        by_column = sorted(self.atoms, key=lambda atom: atom.index)
        return np.array([atom.location for atom in by_column])


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTransport:
    """Plans of a group under one config, and every support they lead to."""

    found: GroupCredit
    """With signal "hara", whatever signal the config asked for."""
    own: dict[bool, ClassAtoms]
    """The class's own barycenter, by outcome; lone classes have none."""
    target: dict[bool, ClassAtoms]
    """The support that the class's plans lead to: its own, the other class's, or the group's."""
    matching: AtomMatching | None
    """Of the right barycenter's atoms with the wrong one's; None unless there are both."""

    def plan(self, row: int) -> Tensor | None:
        """[T, K] over the own tokens of a row; None: it has none."""
        outcome = self.outcome(row)
        if outcome is None or not outcome.plans:
            return None
        return outcome.plans[outcome.rows.index(row)]

    def outcome(self, row: int) -> OutcomeClass | None:
        """The outcome class of a row; None: unscored or empty."""
        return next((o for o in self.found.credit.outcomes if row in o.rows), None)


def transport_group(
    run: Run,
    key: GroupKey,
    config: CreditConfig,
    layer: int | None = None,
    known: GroupCredit | None = None,
) -> GroupTransport:
    """Plans of one group, whatever credit signal is chosen.

    `known`: credit that is at hand; if its config is the one that is needed, nothing is solved
    twice.

    Raises:
        InvalidInputError: the run does not keep the group's states, or a setting needs what the
            run lacks; the sentence says which command fills it in.
    """
    hara = replace(config, signal="hara")
    fits = known is not None and known.config == hara and known.group.key == key
    found = known if known is not None and fits else credit_group(run, key, hara, layer)
    plain = found
    if hara.reference != "same_outcome":
        plain = credit_group(run, key, replace(hara, reference="same_outcome"), layer)
    classes = row_values(run, found)
    own = {
        outcome.success: _atoms_of(outcome.success, [outcome], classes, plain)
        for outcome in plain.credit.outcomes
        if outcome.plans
    }
    return GroupTransport(
        found=found,
        own=own,
        target=_targets(found, own, classes),
        matching=_matching(own, found.config.alpha),
    )


def _matching(own: dict[bool, ClassAtoms], alpha: float) -> AtomMatching | None:
    if len(own) < 2:
        return None
    right, wrong = own[True], own[False]
    return match_atoms(right.centres, right.locations, wrong.centres, wrong.locations, alpha)


def _targets(
    found: GroupCredit, own: dict[bool, ClassAtoms], classes: RowValues
) -> dict[bool, ClassAtoms]:
    """What the columns of each class's plans stand for."""
    outcomes = [outcome for outcome in found.credit.outcomes if outcome.plans]
    reference = found.config.reference
    if reference == "group":
        return {o.success: _atoms_of(o.success, outcomes, classes, found) for o in outcomes}
    if reference == "opposite_outcome":
        # A lone rollout is its class's barycenter here: its own plan names the atoms then.
        return {
            o.success: own.get(not o.success) or _atoms_of(o.success, [o], classes, found)
            for o in outcomes
        }
    return {o.success: own[o.success] for o in outcomes if o.success in own}


def _atoms_of(
    success: bool, outcomes: list[OutcomeClass], classes: RowValues, solved: GroupCredit
) -> ClassAtoms:
    rows = [row for outcome in outcomes for row in outcome.rows]
    plans = [plan.double().cpu().numpy() for outcome in outcomes for plan in outcome.plans]
    states = [classes[row][0] for row in rows]
    atoms = describe_atoms(plans, [classes[row][1] for row in rows], states)
    named = tuple(
        replace(atom, mentions=tuple(m._replace(row=rows[m.row]) for m in atom.mentions))
        for atom in atoms
    )
    return ClassAtoms(
        success=success,
        atoms=named,
        centres=atom_centres(plans, states),
        rows=tuple(rows),
        plans=tuple(plans),
        costs=tuple(_cost_of(solved, row) for row in rows),
    )


def _cost_of(found: GroupCredit, row: int) -> float:
    """Tokens that the policy did not sample have novelty 0 and do not count."""
    mask = found.group.rollouts[row].sampled_mask
    novelty = found.of_row(found.credit.novelty, row).double()
    own = len(novelty) if mask is None else sum(mask)
    return float(novelty.sum()) / max(own, 1)


def row_values(run: Run, found: GroupCredit, only: tuple[int, ...] | None = None) -> RowValues:
    """Normalised states and locations of scored rows, in the space of their plans.

    `only`: these rows; None: all. States of long groups are large, so ask for what is needed.

    Raises:
        InvalidInputError: the run does not keep the group's states.
    """
    group, config = found.group, found.config
    states = None if found.layer is None else run.load_states(group.key, found.layer)
    if states is None:
        raise InvalidInputError(
            f"{run.name} does not keep the states of this group; fill them in with "
            "`hara-viz states`"
        )
    masks = [
        torch.tensor(r.sampled_mask or (True,) * len(r.completion_ids), dtype=torch.bool)
        for r in group.rollouts
    ]
    own = torch.cat(masks)
    batch = build_batch(
        states.states if bool(own.all()) else states.states[own],
        torch.tensor([0, *np.cumsum([int(mask.sum()) for mask in masks])]),
        group.rewards,
        torch.zeros(len(group), dtype=torch.int64),
    )
    (rows,) = group_rows(batch, config)
    center = group_center(batch, rows, config)
    members = tuple(r for r in rows.success + rows.failure if only is None or r in only)
    return {
        row: (state.numpy(), place.numpy())
        for row, state, place in zip(
            members,
            class_states(batch, members, config, center),
            class_locations(batch, members, rows, config) if members else [],
            strict=True,
        )
    }
