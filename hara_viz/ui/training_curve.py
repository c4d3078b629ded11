"""A training so far: pass rate, groups without signal and length by step."""

from __future__ import annotations

import streamlit as st

from hara_viz.analysis.training_step import training_curve
from hara_viz.ui import data
from hara_viz.ui.training_data import StepView

_NAMES = {"pass_rate": "right", "no_signal": "groups without signal"}


def curve(view: StepView) -> None:
    """The curves, from two steps on."""
    if len(view.steps) < 2:
        return
    frame = training_curve(data.run_table(view.name).groups)
    shares, lengths = st.columns([3, 2])
    shares.line_chart(
        frame.rename(columns=_NAMES),
        x="global_step",
        y=list(_NAMES.values()),
        x_label="training step",
        y_label="share",
        height=190,
    )
    lengths.line_chart(
        frame, x="global_step", y="length", x_label="training step", y_label="tokens", height=190
    )
