"""The solver panel: settings, rounds, convergence, and how the barycenters came to rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.ui.solver_notes import solver_frame
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import count, inert, number


def solver_panel(shown: TransportView) -> None:
    """Settings and results of the solver, one line per outcome, and the residual curve."""
    st.markdown(settings_line(shown))
    frame = panel_frame(shown)
    if frame.empty:
        st.caption("No rollout of this group is scored, so there was nothing to solve.")
        return
    table, curve = st.columns([3, 2], gap="medium")
    with table:
        st.dataframe(
            frame,
            hide_index=True,
            key="solver.panel",
            column_config={
                "marginal error": st.column_config.NumberColumn(format="%.2g"),
                "last change": st.column_config.NumberColumn(format="%.2g"),
                "share of structure": st.column_config.NumberColumn(format="percent"),
            },
        )
        for outcome, converged in zip(frame["outcome"], frame["converged"], strict=True):
            if converged is False:
                st.warning(
                    f"The barycenter of the {outcome} rollouts has not converged: read its "
                    "novelty with care, or raise max_iterations or ε under Advanced."
                )
        st.caption(
            "Marginal error: the most by which the mass that any rollout sends to the atoms "
            "misses 1/K, summed over the atoms. A class of one rollout has nothing to solve."
        )
    with curve:
        changes = change_frame(shown)
        if not changes.empty:
            st.vega_lite_chart(changes, _curve(shown), height=190, key="solver.curve")


def health_badges(shown: TransportView) -> None:
    """Whether the numbers can be trusted, at a glance: one badge per outcome."""
    places = st.container(horizontal=True, key="solver.health")
    for label, healthy in health_of(shown):
        with places:
            if healthy is None:
                st.badge(label, icon=":material/remove:", color="gray")
            elif healthy:
                st.badge(label, icon=":material/check:", color="green")
            else:
                st.badge(label, icon=":material/error:", color="red")


def health_of(shown: TransportView) -> list[tuple[str, bool | None]]:
    """A sentence per outcome, and whether it is good news; None: nothing was solved. Pure."""
    found = shown.transport.found
    tolerance = found.config.tolerance
    said: list[tuple[str, bool | None]] = []
    for outcome in found.credit.outcomes:
        word = "right" if outcome.success else "wrong"
        rounds = count(outcome.iterations, "round")
        if not outcome.plans:
            said.append((f"{word}: no barycenter", None))
        elif not outcome.converged and outcome.changes:
            last = f"change {outcome.changes[-1]:.2g}, tolerance {tolerance:g}"
            said.append((f"{word}: NOT converged after {rounds} ({last})", False))
        elif not outcome.converged:
            said.append((f"{word}: NOT converged after {rounds}", False))
        elif outcome.marginal_error > tolerance:
            error = f"{outcome.marginal_error:.2g}, tolerance {tolerance:g}"
            said.append((f"{word}: marginal error {error}", False))
        else:
            said.append((f"{word}: converged in {rounds}", True))
    return said


def settings_line(shown: TransportView) -> str:
    """The settings that matter here, in one line; fixed words and numbers."""
    config = shown.transport.found.config
    layer = shown.transport.found.layer
    anchors = f"{config.n_anchors} {config.anchors}" if config.solver == "anchored" else "none"
    return (
        f"solver **{config.solver}** · α **{number(config.alpha)}** · ε "
        f"**{number(config.epsilon)}** · K **{config.n_support}** · anchors **{anchors}** · "
        f"refining rounds **{config.refine}** · structure **{config.structure}** · tolerance "
        f"**{number(config.tolerance)}** · layer **{layer}**"
    )


def panel_frame(shown: TransportView) -> pd.DataFrame:
    """What `solver_panel` shows. Pure."""
    frame = solver_frame(replace(shown.view, credit=shown.transport.found))
    outcomes = shown.transport.found.credit.outcomes
    if frame.empty:
        return frame
    frame["last change"] = [o.changes[-1] if o.changes else None for o in outcomes]
    return frame


def change_frame(shown: TransportView) -> pd.DataFrame:
    """Relative change of the barycenter in each round, by outcome. Pure."""
    rows = [
        {"round": i + 1, "change": change, "outcome": "right" if outcome.success else "wrong"}
        for outcome in shown.transport.found.credit.outcomes
        for i, change in enumerate(outcome.changes)
        if change > 0
    ]
    return pd.DataFrame(rows, columns=["round", "change", "outcome"])


def _curve(shown: TransportView) -> dict[str, Any]:
    tolerance = shown.transport.found.config.tolerance
    colour = {"field": "outcome", "type": "nominal", "title": None}
    colour["scale"] = {"domain": ["right", "wrong"], "range": ["#3b82c4", "#dd7a2b"]}  # pyright: ignore[reportArgumentType]
    return {
        "layer": [
            {
                "mark": {"type": "line", "point": True},
                "encoding": {
                    "x": {"field": "round", "type": "quantitative", "axis": {"tickMinStep": 1}},
                    "y": {
                        "field": "change",
                        "type": "quantitative",
                        "scale": {"type": "log"},
                        "title": "relative change",
                    },
                    "color": colour,
                },
            },
            {
                "data": {"values": [{"tolerance": tolerance}]},
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": "#8a8f98"},
                "encoding": {"y": {"field": "tolerance", "type": "quantitative"}},
            },
        ]
    }


def refused_note(message: str | None) -> None:
    """Why there are no plans at all."""
    st.warning(
        inert(message or "This run keeps no hidden states, and plans are made of them.", 600)
    )
    st.caption("Fill them in with the checkpoint that the run was sampled from:")
    st.code("hara-viz states RUN --model MODEL", language="bash")
