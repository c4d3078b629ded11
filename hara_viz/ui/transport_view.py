"""The transport of the selected group, as the parts of the transport page need it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import streamlit as st

from hara_viz.analysis.atoms import Mention
from hara_viz.backend.credit import GroupCredit
from hara_viz.backend.transport import ClassAtoms, GroupTransport, transport_group
from hara_viz.credit import CreditConfig, OutcomeClass
from hara_viz.errors import HaraError
from hara_viz.types import GroupKey, Rollout
from hara_viz.ui import data, state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.quote import words_at


class NamedAtom(NamedTuple):
    """An atom in words."""

    text: str
    mentions: tuple[Mention, ...]
    """The real tokens that stand for it, nearest first: `row` of the group, own `token`."""


@dataclass(frozen=True, slots=True)
class TransportView:
    """A group, its plans, and the rollout whose plan is shown."""

    view: GroupView
    transport: GroupTransport
    row: int | None
    """Of the rollout shown: the selected one, else the first that has a plan."""

    @property
    def rollout(self) -> Rollout | None:
        """The rollout shown."""
        return None if self.row is None else self.view.group.rollouts[self.row]

    @property
    def outcome(self) -> OutcomeClass | None:
        """Its outcome class."""
        return None if self.row is None else self.transport.outcome(self.row)

    @property
    def target(self) -> ClassAtoms | None:
        """What its plan leads to; None if it has no plan."""
        outcome = self.outcome
        return None if outcome is None else self.transport.target.get(outcome.success)


def transport_view(view: GroupView) -> TransportView | None:
    """The transport of a group; None if the run does not keep the states it needs."""
    try:
        transport = _transport(
            view.run_name,
            data.run_stamp(view.run_name),
            view.key,
            view.config.to_json(),
            state.current().layer,
            _known=view.credit,
        )
    except HaraError:
        return None
    row = view.row_of(state.current().sample)
    if row is None:
        rows = range(len(view.group))
        row = next((r for r in rows if transport.plan(r) is not None), 0)
    return TransportView(view, transport, row)


def mentions_text(view: GroupView, atoms: ClassAtoms, index: int, limit: int = 3) -> str:
    """The words that stand for one atom (by its place in reading order), each once."""
    found: dict[str, str] = {}
    for mention in atoms.atoms[index].mentions:
        _, inside, _ = words_at(view.group.rollouts[mention.row], mention.token)
        word = inside.strip() or "␣"
        found.setdefault(word.lower(), word)
        if len(found) == limit:
            break
    return " / ".join(found.values())


def named_atoms(view: GroupView, success: bool, wanted: Collection[int]) -> dict[int, NamedAtom]:
    """Those of the atoms that plans of an outcome lead to, by column, as the Transport page shows
    them.

    So that an atom has one name everywhere; empty where the run does not keep the states that the
    words are found with.
    """
    shown = transport_view(view)
    target = None if shown is None else shown.transport.target.get(success)
    if target is None:
        return {}
    return {
        atom.index: NamedAtom(mentions_text(view, target, place), atom.mentions)
        for place, atom in enumerate(target.atoms)
        if atom.index in wanted
    }


@st.cache_resource(max_entries=24, show_spinner="Computing the plans of this group …")
def _transport(
    run: str,
    stamp: int,
    key: tuple[int | None, str, int],
    config: str,
    layer: int | None,
    _known: GroupCredit,
) -> GroupTransport:
    config_asked = CreditConfig.from_json(config)
    return transport_group(data.run(run), GroupKey(*key), config_asked, layer, _known)
