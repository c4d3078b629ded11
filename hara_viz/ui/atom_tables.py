"""The atoms of both barycenters as tables, in reading order."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.analysis.atoms import nearest_atoms
from hara_viz.backend.transport import ClassAtoms
from hara_viz.ui.barycenter_view import why_empty
from hara_viz.ui.export_buttons import origin, table_downloads
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.own_tokens import completion_token
from hara_viz.ui.quote import words_at
from hara_viz.ui.token_table import Column, Spot, token_table
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import count

_COLUMNS = (
    Column("atom", 46, help="Column of the plan"),
    Column("at", 50, ".0%", help="Mean place of the mass that flows in, along the rollout"),
    # First what marks where the outcomes part: a narrow screen cuts the last columns off.
    Column(
        "gap", 52, ".3f", help="Distance to the nearest atom of the other outcome: large where the "
        "two part",
    ),
    Column("reads like", 230, help="The nearest token of one rollout, in its context"),
    Column("also", 110, help="The nearest tokens of other rollouts"),
    Column("mass", 52, ".2f", help="Mass that arrives, times K: 1 is what is due"),
    Column("spread", 60, ".0%", help="Standard deviation of that mass along the rollout"),
    Column("covered", 66, ".0%", help="Rollouts that give at least half of what is due"),
)  # fmt: skip


def atom_tables(shown: TransportView) -> None:
    """The atoms of both barycenters in figures."""
    view = shown.view
    sides = st.columns(2, gap="small")
    for side, success, word in zip(sides, (True, False), ("right", "wrong"), strict=True):
        with side:
            atoms = shown.transport.own.get(success)
            if atoms is None:
                st.caption(why_empty(view, success))
                continue
            rows = len({m.row for atom in atoms.atoms for m in atom.mentions})
            frame = atom_frame(view, atoms, shown.transport.own.get(not success))
            st.markdown(f"**Atoms of the {word} barycenter** ({count(rows, 'rollout')})")
            token_table(frame, atom_spots(view, atoms), key=f"atoms.{word}", columns=_COLUMNS)
            table_downloads(
                lambda frame=frame: frame,
                lambda: origin(view),
                name=f"{view.file_stem}-atoms-{word}",
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
        gap = {} if gaps is None else {"gap": gaps[atom.index].distance}
        row = {
            "atom": atom.index,
            "at": atom.location,
            **gap,
            "reads like": "{}⟦{}⟧{}".format(*first),
            "also": " · ".join(inside.strip() or "␣" for _, inside, _ in quotes[1:]),
            "mass": atom.mass * n_atoms,
            "spread": atom.spread,
            "covered": atom.coverage,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def atom_spots(view: GroupView, atoms: ClassAtoms) -> list[list[Spot]]:
    """The tokens that stand for each atom, nearest first. Pure."""
    spots: list[list[Spot]] = []
    for atom in atoms.atoms:
        of_atom: list[Spot] = []
        for mention in atom.mentions:
            rollout = view.group.rollouts[mention.row]
            token = completion_token(rollout, mention.token)
            of_atom.append(Spot(rollout.sample, token, token + 1))
        spots.append(of_atom)
    return spots
