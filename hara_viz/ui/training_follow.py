"""Following a run that somebody is writing: the page renews itself when a step arrives."""

from __future__ import annotations

import streamlit as st

from hara_viz.ui import data, state
from hara_viz.ui.training_data import StepView
from hara_viz.ui.words import count

_POLL_SECONDS = 2.0
_FOLLOW, _WIDGET = "hara.follow", "training.follow"


def follow_bar(view: StepView) -> None:
    """Where the run stands, and the switch that keeps the newest step on the screen."""
    line, switch = st.columns([5, 2], vertical_alignment="center")
    with line:
        _watch(view.name, data.run_stamp(view.name), _standing(view))
    # A widget's own key is forgotten while another page is shown.
    st.session_state[_WIDGET] = st.session_state.get(_FOLLOW, False)
    switch.toggle(
        "Follow the newest step",
        key=_WIDGET,
        on_change=_remember,
        help="Goes to each new step as soon as its rollouts are in the run",
    )


def go_to_newest(view: StepView) -> None:
    """Move to the newest step while the switch is on; runs the page again if there is one."""
    if st.session_state.get(_FOLLOW, False) and view.steps and view.step != view.steps[-1]:
        state.update(global_step=view.steps[-1])
        st.rerun()


def _remember() -> None:
    st.session_state[_FOLLOW] = st.session_state[_WIDGET]


def _standing(view: StepView) -> str:
    if view.writing:
        how = "A trainer is writing this run"
    else:
        how = "This run is complete" if view.run.complete else "This run was broken off"
    steps = count(len(view.steps), "step") if view.steps else "no steps named"
    newest = f", the newest is {view.steps[-1]}" if view.steps else ""
    return f"{how}: {steps}{newest}."


@st.fragment(run_every=_POLL_SECONDS)
def _watch(name: str, stamp: int, standing: str) -> None:
    if data.run_stamp(name) != stamp:
        st.rerun()
    st.caption(standing)
