"""Barycenter atoms as readable text, in reading order, both outcomes side by side."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.analysis.atoms import nearest_atoms
from hara_viz.backend.transport import ClassAtoms
from hara_viz.ui import state
from hara_viz.ui.click_table import click_table
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.inspector import completion_token
from hara_viz.ui.quote import words_at
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import count

_COLUMNS = {
    "atom": st.column_config.NumberColumn(width=46, help="Column of the plan"),
    "at": st.column_config.NumberColumn(
        format="percent", width=48, help="Mean place of the mass that flows in, along the rollout"
    ),
    "reads like": st.column_config.TextColumn(
        width=250, help="The nearest token of one rollout, in its context"
    ),
    "also": st.column_config.TextColumn(width=150, help="The nearest tokens of other rollouts"),
    "mass": st.column_config.NumberColumn(
        format="%.2f", width=50, help="Mass that arrives, times K: 1 is what is due"
    ),
    "spread": st.column_config.NumberColumn(
        format="percent", width=56, help="Standard deviation of that mass along the rollout"
    ),
    "covered": st.column_config.NumberColumn(
        format="percent", width=60, help="Rollouts that give at least half of what is due"
    ),
    "gap": st.column_config.NumberColumn(
        "gap",
        format="%.3f",
        width=52,
        help="Distance to the nearest atom of the other outcome: large where the two part",
    ),
}


def atom_tables(shown: TransportView) -> None:
    """What the policy usually does when it is right, and when it is wrong."""
    sides = st.columns(2, gap="small")
    for side, success, word in zip(sides, (True, False), ("right", "wrong"), strict=True):
        with side:
            atoms = shown.transport.own.get(success)
            if atoms is None:
                _explain(shown.view, success, word)
                continue
            rows = len({m.row for atom in atoms.atoms for m in atom.mentions})
            st.markdown(f"**What it usually does when it is {word}** ({count(rows, 'rollout')})")
            click_table(
                atom_frame(shown.view, atoms, shown.transport.own.get(not success)),
                atom_targets(shown.view, atoms),
                key=f"atoms.{word}",
                columns=_COLUMNS,
                row_height=28,
                max_rows=12,
            )
    st.caption(
        "Each atom of a barycenter, in reading order, by the real tokens whose states come nearest "
        "to it, one per rollout. Click a row to go to that token. A large gap to the other "
        "outcome marks where right and wrong rollouts part."
    )


def atom_frame(view: GroupView, atoms: ClassAtoms, other: ClassAtoms | None) -> pd.DataFrame:
    """What one side of `atom_tables` shows. Pure."""
    gaps = None if other is None else nearest_atoms(atoms.centres, other.centres)
    n_atoms = len(atoms.atoms)
    rows: list[dict[str, Any]] = []
    for atom in atoms.atoms:
        quotes = [words_at(view.group.rollouts[m.row], m.token) for m in atom.mentions[:4]]
        first = quotes[0] if quotes else ("", "–", "")
        # First what marks where the outcomes part: a narrow screen cuts the last columns off.
        gap = {} if gaps is None else {"gap": gaps[atom.index].distance}
        row = {
            "atom": atom.index,
            "at": atom.location,
            **gap,
            "reads like": f"{first[0][-20:]}⟦{first[1]}⟧{first[2][:20]}",
            "also": " · ".join(inside.strip() or "␣" for _, inside, _ in quotes[1:]),
            "mass": atom.mass * n_atoms,
            "spread": atom.spread,
            "covered": atom.coverage,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def atom_targets(view: GroupView, atoms: ClassAtoms) -> list[dict[str, Any]]:
    """Where a click on each row leads. Pure."""
    targets: list[dict[str, Any]] = []
    for atom in atoms.atoms:
        if not atom.mentions:
            targets.append({})
            continue
        mention = atom.mentions[0]
        rollout = view.group.rollouts[mention.row]
        token = completion_token(rollout, mention.token)
        targets.append({"sample": rollout.sample, "token": token})
    return targets


def _explain(view: GroupView, success: bool, word: str) -> None:
    found = sum(view.success(rollout) is success for rollout in view.group.rollouts)
    st.markdown(f"**What it usually does when it is {word}**")
    if found:
        st.caption(
            f"One {word} rollout alone makes no pattern. Choose a problem with two of them (the "
            "list in the sidebar can show mixed groups only), or sample a larger group."
        )
    else:
        st.caption(f"No rollout of this group is {word}, so there is nothing to average over.")
    if state.current().credit.reference == "opposite_outcome" and found:
        st.caption("Its plan above leads to the other outcome's barycenter.")
