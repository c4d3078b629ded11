"""The atoms of both barycenters as tables, in reading order."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.analysis.atoms import nearest_atoms
from hara_viz.backend.transport import ClassAtoms
from hara_viz.ui.barycenter_view import why_empty
from hara_viz.ui.click_table import click_table
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.own_tokens import completion_token
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
    """The atoms of both barycenters in figures."""
    sides = st.columns(2, gap="small")
    for side, success, word in zip(sides, (True, False), ("right", "wrong"), strict=True):
        with side:
            atoms = shown.transport.own.get(success)
            if atoms is None:
                st.caption(why_empty(shown.view, success))
                continue
            rows = len({m.row for atom in atoms.atoms for m in atom.mentions})
            st.markdown(f"**Atoms of the {word} barycenter** ({count(rows, 'rollout')})")
            click_table(
                atom_frame(shown.view, atoms, shown.transport.own.get(not success)),
                atom_targets(shown.view, atoms),
                key=f"atoms.{word}",
                columns=_COLUMNS,
                row_height=28,
                max_rows=12,
            )
    st.caption(
        "In reading order. Click a row to go to the token that stands for the atom. Gap: distance "
        "to the nearest atom of the other outcome, large where the two part."
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
