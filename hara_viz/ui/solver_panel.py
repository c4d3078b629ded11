"""The solver panel: settings, rounds, convergence, and how the barycenters came to rest."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from hara_viz.backend.runs import Run
from hara_viz.backend.sensitivity import solve_seconds
from hara_viz.plots.transport_charts import residual_curve
from hara_viz.ui import data, state
from hara_viz.ui.missing_states import explain_missing_states
from hara_viz.ui.side_work import computed, is_computed
from hara_viz.ui.solver_notes import solver_frame
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import count, inert, number

_TIMED = "hara.solver_timed"


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
                "outcome": st.column_config.TextColumn(width=58),
                "rollouts": st.column_config.NumberColumn(width=58),
                "tokens": st.column_config.NumberColumn(width=54),
                "atoms": st.column_config.NumberColumn("K", width=40),
                "rounds": st.column_config.NumberColumn(width=54),
                "converged": st.column_config.CheckboxColumn(width=70),
                "marginal error": st.column_config.NumberColumn(format="%.2g", width=94),
                "share of structure": st.column_config.NumberColumn(
                    "structure", format="percent", width=66, help="Share of it in the cost"
                ),
                "last change": st.column_config.NumberColumn(format="%.2g", width=80),
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
        _time(shown)
    with curve:
        changes, tolerance = change_frame(shown), shown.transport.found.config.tolerance
        if not changes.empty:
            st.vega_lite_chart(changes, residual_curve(tolerance), height=190, key="solver.curve")


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


def _time(shown: TransportView) -> None:
    """How long one solve takes, measured when somebody asks."""
    view = shown.view
    arguments = (
        str(view.run.path),
        data.run_stamp(view.run_name),
        tuple(view.key),
        shown.transport.found.config.to_json(),
        state.current().layer,
    )
    if st.session_state.get(_TIMED) != arguments and not is_computed(solve_seconds, *arguments):
        st.button(
            "Measure the time of a solve",
            key="solver.time",
            on_click=lambda: st.session_state.update({_TIMED: arguments}),
        )
        return
    seconds = computed(
        solve_seconds, *arguments, message="Solving this group four times …", key="solver.timing"
    )
    if seconds is not None:
        st.markdown(f"One solve of this group takes **{seconds:.3g} s** (the best of three).")


def refused_note(message: str | None, run: Run) -> None:
    """Why there are no plans at all, and what fills in what they lack."""
    st.warning(
        inert(message or "This run keeps no hidden states, and plans are made of them.", 600)
    )
    if not run.layers:
        explain_missing_states(run)
