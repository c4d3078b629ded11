"""The inspector: all that is known of the pinned token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.analysis.matches import AtomShare, atoms_of_token, outcome_of_row, tokens_of_atom
from hara_viz.analysis.signals import SIGNALS
from hara_viz.analysis.spans import span_text
from hara_viz.backend.credit import default_layer
from hara_viz.backend.neighbours import SimilarToken, similar_tokens
from hara_viz.credit import OutcomeClass
from hara_viz.types import HiddenStates, Rollout
from hara_viz.ui import state
from hara_viz.ui.click_table import click_table
from hara_viz.ui.further import values_of
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.own_tokens import completion_token, plan_row
from hara_viz.ui.quote import marked
from hara_viz.ui.transport_view import NamedAtom, named_atoms
from hara_viz.ui.words import count, one_line

INSPECTOR = "inspector"
"""The fragment that `inspector` runs in."""
LIVE_NUMBERS = 2**26
"""Up to this many numbers of hidden states are compared at once; more, when asked for."""
_ASKED = "hara.similar_asked"
_COUNTERPARTS = 6
"""Of the nearest atom, at most."""


@st.fragment(key=INSPECTOR)
def inspector(view: GroupView) -> None:
    """Everything about the selected token, or how to select one; it scrolls beside the text."""
    with st.container(key="inspector.box"):
        _inspect(view)


def _inspect(view: GroupView) -> None:
    selection = state.current()
    row = view.row_of(selection.sample)
    if row is None or selection.token is None:
        st.markdown("**Inspector**")
        st.caption(
            "Click a token to pin it: its values, the barycenter's atoms it is matched with and "
            "its counterparts in the other rollouts appear here."
        )
        return
    rollout = view.group.rollouts[row]
    _head(rollout, selection.token)
    st.dataframe(
        value_frame(view, row, selection.token),
        hide_index=True,
        key="inspector.values",
        row_height=26,
        column_config={
            "signal": st.column_config.TextColumn(width=128),
            "value": st.column_config.NumberColumn(format="%.3g", width=74),
            "rank": st.column_config.NumberColumn(
                "below",
                format="%.0f %%",
                width=48,
                help="Share of the group's tokens with a smaller value",
            ),
        },
    )
    states = _states(view)
    if states is not None and states.states.numel() > LIVE_NUMBERS:
        asked = (view.key, row, selection.token)
        if st.session_state.get(_ASKED) != asked:
            _matches(view, row, selection.token, named=False)
            st.button(
                "Name the atoms, find similar tokens",
                key="inspector.find",
                help="Reads the hidden states of the whole group, which takes a while",
                on_click=lambda: st.session_state.update({_ASKED: asked}),
            )
            return
    _matches(view, row, selection.token, named=True)
    if states is not None:
        _similar(view, states, row, selection.token)


def value_frame(view: GroupView, row: int, token: int) -> pd.DataFrame:
    """Every signal of a token, and how many per cent of the group's tokens lie below it. Pure."""
    place = view.offsets[row] + token
    rows = []
    for signal in SIGNALS.values():
        values = view.values(signal.name)
        if values is None:
            continue
        value = float(values[place])
        share = view.share_below(signal.name, value)
        rows.append(_row(signal.label, value, share))
    selection = state.current()
    for name in dict.fromkeys((selection.signal, selection.underline)):
        signal = None if name is None or name in SIGNALS else view.signal(name)
        values = None if signal is None else values_of(view, signal.name)
        if signal is not None and values is not None:
            known = values[~np.isnan(values)]
            share = float((known < values[place]).mean()) if known.size else None
            rows.append(_row(signal.label, float(values[place]), share))
    return pd.DataFrame(rows)


def _row(label: str, value: float, share: float | None) -> dict[str, object]:
    rank = None if share is None or np.isnan(value) else 100 * share
    return {"signal": label, "value": value, "rank": rank}


def token_text(rollout: Rollout, token: int) -> tuple[str, str, str]:
    """The text before, of and after a token's display cell; empty if it was never cut."""
    if rollout.cell_start is None:
        return "", "", ""
    return span_text(rollout.completion_text, rollout.cell_start, token, token + 1, context=28)


def _head(rollout: Rollout, token: int) -> None:
    before, inside, after = token_text(rollout, token)
    st.markdown(f"**Token {token}** of rollout {rollout.sample}")
    st.code(f"{marked(before)}⟦{marked(inside)}⟧{marked(after)}", language=None, wrap_lines=True)
    n_tokens = len(rollout.completion_ids)
    parts = [f"id {rollout.completion_ids[token]}", f"{count(n_tokens, 'token')}, counted from 0"]
    if rollout.reasoning_step is not None:
        parts.append(f"reasoning step {rollout.reasoning_step[token]}")
    if rollout.sampled_mask is not None and not rollout.sampled_mask[token]:
        parts.append("not sampled by the policy")
    st.caption(" · ".join(parts))


def _matches(view: GroupView, row: int, token: int, *, named: bool) -> None:
    """The atoms that the token flows into, and its counterparts through the nearest one."""
    outcome = outcome_of_row(view.credit.credit.outcomes, row)
    plan_token = plan_row(view.group.rollouts[row], token)
    if outcome is None or outcome.barycenter is None or plan_token is None:
        st.caption(
            "No barycenter to compare with: the rollout stands alone in its outcome class, is "
            "unscored, or this signal needs none."
        )
        return
    atoms = [a for a in atoms_of_token(outcome, row, plan_token) if a.share >= 0.01]
    if not atoms:
        return
    names = named_atoms(view, outcome.success, {a.atom for a in atoms}) if named else {}
    st.caption("Where its mass goes: the barycenter's atoms, and what stands for each.")
    st.dataframe(
        atom_frame(atoms, names),
        hide_index=True,
        key="inspector.atoms",
        row_height=26,
        column_config={
            "atom": st.column_config.NumberColumn(width=44),
            "share": st.column_config.NumberColumn(format="percent", width=52),
        },
    )
    st.caption("Its counterparts in other rollouts, through the nearest atom:")
    counterparts = counterparts_of(outcome, atoms[0].atom, row, names)
    frame, targets = match_frame(view, counterparts)
    click_table(
        frame,
        targets,
        key="inspector.matches",
        row_height=26,
        columns={"rollout": st.column_config.NumberColumn(width=50)},
    )


def atom_frame(atoms: Sequence[AtomShare], names: Mapping[int, NamedAtom]) -> pd.DataFrame:
    """The atoms nearest to a token, by number and, where it is known, by the words they bear on
    every page. Pure.
    """
    frame = pd.DataFrame([{"atom": a.atom, "share": a.share} for a in atoms])
    return frame.assign(**{"stands for": [names[a.atom].text for a in atoms]}) if names else frame


def _similar(view: GroupView, states: HiddenStates, row: int, token: int) -> None:
    """Tokens of any sibling whose hidden states are most like this one's."""
    st.caption(f"Most similar states of layer {states.layer} in its siblings, of either outcome:")
    found = similar_tokens(states, row, token)
    click_table(
        similar_frame(view, found),
        [{"sample": view.samples[match.row], "token": match.token} for match in found],
        key="inspector.similar",
        row_height=26,
        columns={
            "rollout": st.column_config.NumberColumn(width=50),
            "right": st.column_config.TextColumn(width=42),
            "cosine": st.column_config.NumberColumn(format="%.3f", width=52),
        },
    )


def similar_frame(view: GroupView, found: Sequence[SimilarToken]) -> pd.DataFrame:
    """What `_similar` lists. Pure."""
    sign = {True: "✓", False: "✗", None: "?"}
    rows = []
    for match in found:
        sibling = view.group.rollouts[match.row]
        rows.append(
            {
                "rollout": sibling.sample,
                "right": sign[view.success(sibling)],
                "cosine": match.similarity,
                "text": _in_context(sibling, match.token, 8),
            }
        )
    return pd.DataFrame(rows, columns=["rollout", "right", "cosine", "text"])


def _states(view: GroupView) -> HiddenStates | None:
    layer = default_layer(view.run) if view.layer is None else view.layer
    return None if layer is None else view.run.load_states(view.key, layer)


def _in_context(rollout: Rollout, token: int, context: int) -> str:
    """A token between what stands around it; as much as its column shows."""
    before, inside, after = token_text(rollout, token)
    return one_line(marked(f"{before[-context:]}⟦{inside}⟧{after[:context]}"))


def counterparts_of(
    outcome: OutcomeClass, atom: int, row: int, names: Mapping[int, NamedAtom]
) -> list[tuple[int, int]]:
    """Row and own token of what stands for an atom in the other rollouts, nearest first. Pure.

    Where the atoms are not named, the tokens that give most to it.
    """
    if not names:
        found = tokens_of_atom(outcome, atom, without_row=row)
        return [(match.row, match.token) for match in found[:_COUNTERPARTS]]
    others = [m for m in names[atom].mentions if m.row != row]
    return [(mention.row, mention.token) for mention in others[:_COUNTERPARTS]]


def match_frame(
    view: GroupView, counterparts: Sequence[tuple[int, int]]
) -> tuple[pd.DataFrame, list[dict[str, int]]]:
    """Tokens of sibling rollouts in their context, and where they stand. Pure."""
    rows, targets = [], []
    for sibling_row, own_token in counterparts:
        sibling = view.group.rollouts[sibling_row]
        token = completion_token(sibling, own_token)
        rows.append({"rollout": sibling.sample, "text": _in_context(sibling, token, 13)})
        targets.append({"sample": sibling.sample, "token": token})
    return pd.DataFrame(rows, columns=["rollout", "text"]), targets
