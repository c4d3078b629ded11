"""Following a run that somebody is writing: the page renews itself when a step arrives."""

from __future__ import annotations

import streamlit as st

from hara_viz.ui import data, state
from hara_viz.ui.training_data import StepView
from hara_viz.ui.widgets import show
from hara_viz.ui.words import count

_POLL_SECONDS = 2.0
_FOLLOW, _WIDGET = "hara.follow", "training.follow"


def follow_bar(view: StepView) -> None:
    """Where the run stands, and the switch that keeps the newest step on the screen."""
    line, switch = st.columns([5, 2], vertical_alignment="center")
    with line:
        # A run that is complete has nothing to wait for.
        pause = None if view.run.complete else _POLL_SECONDS
        st.fragment(_watch, run_every=pause)(view.name, data.run_stamp(view.name), view.steps)
    # A widget's own key is forgotten while another page is shown.
    show(_WIDGET, st.session_state.get(_FOLLOW, False))
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


def _watch(name: str, stamp: int, steps: tuple[int, ...]) -> None:
    if data.run_stamp(name) != stamp:
        st.rerun()
    known = count(len(steps), "step") if steps else "no steps named"
    newest = f", the newest is {steps[-1]}" if steps else ""
    st.caption(f"{_standing(name)}: {known}{newest}.")


def _standing(name: str) -> str:
    """Whether a run still grows; asked at each poll, since a writer may end without a word."""
    if data.run(name).complete:
        return "This run is complete"
    writing = any(summary.writing for summary in data.runs() if summary.name == name)
    return "A trainer is writing this run" if writing else "This run was broken off"
