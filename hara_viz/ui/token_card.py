"""What the card of a pinned token says. Pure, but for what a page computes once per group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hara_viz.analysis.matches import AtomShare, atoms_of_token, outcome_of_row, tokens_of_atom
from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.neighbours import similar_tokens
from hara_viz.components.token_card import Card, CardAtom, CardQuote, CardValue
from hara_viz.credit import OutcomeClass
from hara_viz.types import HiddenStates, Rollout
from hara_viz.ui import state
from hara_viz.ui.further import values_of
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.own_tokens import completion_token, plan_row
from hara_viz.ui.quote import marked, token_text
from hara_viz.ui.transport_view import NamedAtom, named_atoms
from hara_viz.ui.words import count

_COUNTERPARTS = 6
"""Of the nearest atom, at most."""
_ALONE = (
    "No barycenter to compare with: the rollout stands alone in its outcome class, is unscored, or "
    "this signal needs none."
)


def card_of(
    view: GroupView, row: int, token: int, states: HiddenStates | None, *, named: bool
) -> Card:
    """All that is known of a token.

    Args:
        view: its group.
        row: of its rollout.
        token: counted from 0 within the completion.
        states: to search for similar tokens in; None: no search.
        named: whether the atoms bear the words of the Transport page, which reads the states too.
    """
    rollout = view.group.rollouts[row]
    matches = _matches(view, row, token, named)
    atoms, counterparts = matches or ((), ())
    before, inside, after = token_text(rollout, token)
    return Card(
        sample=rollout.sample,
        token=token,
        text=(marked(before), marked(inside), marked(after)),
        facts=facts_of(rollout, token),
        values=values_at(view, row, token),
        note=_ALONE if matches is None else "",
        atoms=atoms,
        counterparts=counterparts,
        layer=None if states is None else states.layer,
        similar=() if states is None else similar_to(view, states, row, token),
    )


def values_at(view: GroupView, row: int, token: int) -> tuple[CardValue, ...]:
    """Every signal of a token, and the share of the group's tokens that lie below it."""
    place = view.offsets[row] + token
    lines = []
    for signal in SIGNALS.values():
        values = view.values(signal.name)
        if values is not None:
            value = float(values[place])
            lines.append(CardValue(signal.label, value, view.share_below(signal.name, value)))
    selection = state.current()
    for name in dict.fromkeys((selection.signal, selection.underline)):
        signal = None if name is None or name in SIGNALS else view.signal(name)
        values = None if signal is None else values_of(view, signal.name)
        if signal is not None and values is not None:
            value = float(values[place])
            lines.append(CardValue(signal.label, value, _share_below(values, value)))
    return tuple(lines)


def _share_below(values: np.ndarray, value: float) -> float | None:
    known = values[~np.isnan(values)]
    return None if np.isnan(value) or not known.size else float((known < value).mean())


def facts_of(rollout: Rollout, token: int) -> str:
    """Its id, how long its rollout is, and where in the reasoning it stands."""
    n_tokens = len(rollout.completion_ids)
    parts = [f"id {rollout.completion_ids[token]}", f"{count(n_tokens, 'token')}, counted from 0"]
    if rollout.reasoning_step is not None:
        parts.append(f"reasoning step {rollout.reasoning_step[token]}")
    if rollout.sampled_mask is not None and not rollout.sampled_mask[token]:
        parts.append("not sampled by the policy")
    return " · ".join(parts)


def _matches(
    view: GroupView, row: int, token: int, named: bool
) -> tuple[tuple[CardAtom, ...], tuple[CardQuote, ...]] | None:
    """The atoms that the token flows into, and its counterparts through the nearest one."""
    outcome = outcome_of_row(view.credit.credit.outcomes, row)
    own_token = plan_row(view.group.rollouts[row], token)
    if outcome is None or outcome.barycenter is None or own_token is None:
        return None
    shares = [a for a in atoms_of_token(outcome, row, own_token) if a.share >= 0.01]
    if not shares:
        return (), ()
    names = named_atoms(view, outcome.success, {a.atom for a in shares}) if named else {}
    places = counterparts_of(outcome, shares[0].atom, row, names)
    return atom_lines(shares, names), tuple(_counterpart(view, *place) for place in places)


def atom_lines(atoms: Sequence[AtomShare], names: Mapping[int, NamedAtom]) -> tuple[CardAtom, ...]:
    """The atoms by number and, where they are known, by the words they bear on every page."""
    return tuple(
        CardAtom(a.atom, a.share, names[a.atom].text if a.atom in names else None) for a in atoms
    )


def counterparts_of(
    outcome: OutcomeClass, atom: int, row: int, names: Mapping[int, NamedAtom]
) -> list[tuple[int, int]]:
    """Row and own token of what stands for an atom in the other rollouts, nearest first.

    Where the atoms are not named, the tokens that give most to it.
    """
    if not names:
        found = tokens_of_atom(outcome, atom, without_row=row)
        return [(match.row, match.token) for match in found[:_COUNTERPARTS]]
    others = [m for m in names[atom].mentions if m.row != row]
    return [(mention.row, mention.token) for mention in others[:_COUNTERPARTS]]


def _counterpart(view: GroupView, row: int, own_token: int) -> CardQuote:
    sibling = view.group.rollouts[row]
    token = completion_token(sibling, own_token)
    return CardQuote(sibling.sample, token, *_in_context(sibling, token, 13))


def similar_to(
    view: GroupView, states: HiddenStates, row: int, token: int
) -> tuple[CardQuote, ...]:
    """Tokens of any sibling whose hidden states are most like this one's."""
    lines = []
    for match in similar_tokens(states, row, token):
        sibling = view.group.rollouts[match.row]
        text = _in_context(sibling, match.token, 8)
        lines.append(
            CardQuote(
                sibling.sample,
                match.token,
                *text,
                success=view.success(sibling),
                cosine=match.similarity,
            )
        )
    return tuple(lines)


def _in_context(rollout: Rollout, token: int, context: int) -> tuple[str, str, str]:
    """A token between what stands around it; as much as its column shows."""
    before, inside, after = token_text(rollout, token)
    return marked(before[-context:]), marked(inside), marked(after[:context])
