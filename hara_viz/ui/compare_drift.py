"""How far barycenters moved between checkpoints, as a matrix and along training."""

from __future__ import annotations

from typing import cast, get_args

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.backend.compare import Checkpoint
from hara_viz.backend.compare_drift import (
    Drift,
    DriftSettings,
    Outcome,
    drift_row_at,
    put_together,
)
from hara_viz.plots.drift_curve import DriftLine, drift_curve
from hara_viz.plots.matrix import matrix_figure
from hara_viz.ui import state
from hara_viz.ui.compare_choice import Chosen
from hara_viz.ui.compare_reads import Step, ask, asked, take_steps
from hara_viz.ui.compare_sides import spot_of
from hara_viz.ui.export_buttons import CHART
from hara_viz.ui.words import count

MOST = 24
"""Checkpoints whose pairs are compared; more would take many minutes."""


def drift_view(chosen: Chosen) -> None:
    """A button, then matrix, curve and table."""
    st.caption(
        "Barycenters by their structure alone: distances ‖h_i − h_k‖ inside each rollout "
        '(structure "state", α = 1), so checkpoints need no common space. Each checkpoint\'s '
        "rollouts are halved: the distance between its own halves is what sampling alone makes, "
        "the null on the diagonal. The excess of a pair over its null is what training moved."
    )
    outcome = st.segmented_control(
        "Rollouts", get_args(Outcome), default="all", required=True, key="compare.drift.outcome"
    )
    checkpoints = chosen.checkpoints[:MOST]
    if len(checkpoints) < len(chosen.checkpoints):
        st.caption(f"Only the first {MOST} checkpoints are compared; choose fewer above.")
    steps = drift_steps(checkpoints, cast("Outcome", outcome))
    question = f"drift {outcome}"
    if not asked(question) and any(step.result() is None for step in steps):
        st.button(
            f"Compute the barycenters of {count(len(checkpoints), 'checkpoint')}",
            key="compare.drift.go",
            on_click=ask,
            args=(question,),
            help="A few seconds for each checkpoint of 25 problems × 8 rollouts",
        )
        return
    if not take_steps(steps, "Comparing barycenters", "compare.drift"):
        return
    rows = [step.result() for step in steps]
    if any(row is None for row in rows):
        return
    found = put_together(rows)
    left, right = st.columns(2, gap="small")
    labels = [c.label for c in checkpoints]
    figure = matrix_figure(found.distance, labels, label="Distance (diagonal: null)", digits=3)
    left.plotly_chart(figure, key="compare.drift.matrix", config=CHART)
    curve = drift_curve(drift_lines(checkpoints, found))
    right.plotly_chart(curve, key="compare.drift.curve", config=CHART)
    st.dataframe(
        drift_frame(checkpoints, found),
        hide_index=True,
        placeholder="–",
        column_config={
            name: st.column_config.NumberColumn(format="%.4f")
            for name in ("distance", "null", "excess", "low", "high", "p")
        },
    )
    st.caption(
        "Every checkpoint against the first of its series and against the one before it. Excess "
        "= distance − null, mean over problems with a paired bootstrap interval."
    )


def drift_steps(checkpoints: tuple[Checkpoint, ...], outcome: Outcome) -> list[Step]:
    """One call per checkpoint: against all before it."""
    settings = DriftSettings(outcome=outcome, layer=state.current().layer)
    spots = tuple(spot_of(c) for c in checkpoints)
    return [Step(drift_row_at, (spots[: i + 1], settings)) for i in range(len(spots))]


def drift_frame(checkpoints: tuple[Checkpoint, ...], found: Drift) -> pd.DataFrame:
    """What the table shows: within each series, from its first and from the one before. Pure."""
    rows = []
    for series in dict.fromkeys(c.series for c in checkpoints):
        own = [i for i, c in enumerate(checkpoints) if c.series == series]
        for number, b in enumerate(own[1:], start=1):
            for a, what in {own[0]: "first", own[number - 1]: "one before"}.items():
                test = found.excess[a, b]
                rows.append(
                    {
                        "checkpoint": checkpoints[b].label,
                        "against": f"{checkpoints[a].label} ({what})",
                        "distance": float(found.distance[a, b]),
                        "null": (found.null[a].value + found.null[b].value) / 2,
                        "excess": test.interval.value,
                        "low": test.interval.low,
                        "high": test.interval.high,
                        "p": test.p_value,
                        "problems": test.interval.n,
                    }
                )
    return pd.DataFrame(rows)


def drift_lines(checkpoints: tuple[Checkpoint, ...], found: Drift) -> list[DriftLine]:
    """Excess over the null since the first checkpoint of each series. Pure."""
    lines: list[DriftLine] = []
    for series in dict.fromkeys(c.series for c in checkpoints):
        own = [i for i, c in enumerate(checkpoints) if c.series == series]
        tests = [found.excess[own[0], b].interval for b in own[1:]]
        steps = [float(n if (s := checkpoints[i].place.step) is None else s)
                 for n, i in enumerate(own)]  # fmt: skip
        lines.append(
            DriftLine(
                name=series,
                steps=tuple(steps),
                excess=(0.0, *(t.value for t in tests)),
                low=(np.nan, *(t.low for t in tests)),
                high=(np.nan, *(t.high for t in tests)),
            )
        )
    return lines
