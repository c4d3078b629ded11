"""How far barycenters moved since the beginning of each series, above what chance moves them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from hara_viz.plots.learning_curves import COLOURS
from hara_viz.plots.state_map import safe_text


@dataclass(frozen=True, slots=True)
class DriftLine:
    """One series."""

    name: str
    steps: tuple[float, ...]
    excess: tuple[float, ...]
    """Distance since its first checkpoint, minus the null."""
    low: tuple[float, ...]
    high: tuple[float, ...]
    """Ends of the intervals; NaN at the first."""


def drift_curve(lines: Sequence[DriftLine]) -> go.Figure:
    """Lines with intervals; 0 is the null."""
    figure = go.Figure()
    for index, line in enumerate(lines):
        excess, low, high = (np.asarray(v, float) for v in (line.excess, line.low, line.high))
        figure.add_trace(
            go.Scatter(
                x=line.steps,
                y=excess,
                name=safe_text(line.name),
                mode="lines+markers",
                line={"width": 2, "color": COLOURS[index % len(COLOURS)]},
                error_y={
                    "type": "data",
                    "array": np.nan_to_num(high - excess),
                    "arrayminus": np.nan_to_num(excess - low),
                    "thickness": 1,
                },
            )
        )
    figure.add_hline(y=0, line_dash="dash", line_width=1, line_color="#8a8f98")
    figure.update_layout(
        height=390,
        title={
            "text": "Since the first checkpoint, above the null (dashed)", "font": {"size": 13}
        },
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        legend={"orientation": "h", "y": -0.12},
    )  # fmt: skip
    return figure
