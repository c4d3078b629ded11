"""The barycenters of the group in numbers: size, rounds, convergence, share of structure."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from hara_viz.ui.group_view import GroupView


def solver_notes(view: GroupView) -> None:
    """One line per outcome class, and what the numbers mean."""
    frame = solver_frame(view)
    if frame.empty:
        st.caption("No rollout of this group is scored, so there is no outcome to average over.")
        return
    st.dataframe(
        frame,
        hide_index=True,
        key="solver.table",
        column_config={
            "marginal error": st.column_config.NumberColumn(format="%.2g"),
            "share of structure": st.column_config.NumberColumn(format="percent"),
        },
    )
    st.caption(
        "Share of structure: how much of the class's novelty comes from where tokens stand. A "
        "class of one rollout has no barycenter: its novelty is 0 and its weights are 1."
    )


def solver_frame(view: GroupView) -> pd.DataFrame:
    """What `solver_notes` shows. Pure."""
    credit, offsets = view.credit.credit, view.offsets
    rows = []
    for outcome in credit.outcomes:
        own = [slice(offsets[row], offsets[row + 1]) for row in outcome.rows]
        total = sum(float(credit.novelty[row].sum()) for row in own)
        structure = sum(float(credit.novelty_structure[row].sum()) for row in own)
        bary = outcome.barycenter
        rows.append(
            {
                "outcome": "right" if outcome.success else "wrong",
                "rollouts": len(outcome.rows),
                "tokens": sum(row.stop - row.start for row in own),
                "atoms": None if bary is None else int(bary.locations.shape[0]),
                "rounds": None if bary is None else outcome.iterations,
                "converged": None if bary is None else outcome.converged,
                "marginal error": None if bary is None else outcome.marginal_error,
                "share of structure": structure / total if total > 0 else None,
            }
        )
    return pd.DataFrame(rows)
