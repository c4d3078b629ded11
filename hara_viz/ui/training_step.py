"""Which step is shown, how it was trained, and the way to the next one."""

from __future__ import annotations

import streamlit as st

from hara_viz.ui import state
from hara_viz.ui.training_data import StepView
from hara_viz.ui.words import inert


def step_head(view: StepView) -> None:
    """The step's number between two arrows, and the settings of the training."""
    title, back, forth = st.columns([8, 1, 1], vertical_alignment="center")
    title.subheader("The run" if view.step is None else f"Training step {view.step}")
    place = view.steps.index(view.step) if view.step in view.steps else None
    for column, label, move in ((back, "Previous", -1), (forth, "Next", 1)):
        aim = None if place is None else place + move
        known = aim is not None and 0 <= aim < len(view.steps)
        column.button(
            label,
            key=f"training.{label.lower()}",
            disabled=not known,
            on_click=state.update,
            kwargs={"global_step": view.steps[aim]} if aim is not None and known else {},
        )
    training = view.run.info.training
    if training is None:
        if len(view.steps) > 1:  # else the top of the page has said more
            st.caption("No trainer recorded this run: its advantages are not known to be a loss's.")
        return
    level = f", {training.importance_sampling_level} ratio" if training.loss_type else ""
    st.caption(
        inert(
            f"{training.trainer} · loss {training.loss_type}{level} · rewards scaled by "
            f"{training.scale_rewards} · the number of a step counts the updates before its "
            "rollouts were drawn"
        )
    )
