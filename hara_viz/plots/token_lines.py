"""Values along the tokens of one text, a line per checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from hara_viz.plots.learning_curves import COLOURS
from hara_viz.plots.state_map import safe_text


class TokenLine(NamedTuple):
    """One checkpoint's values."""

    name: str
    values: np.ndarray
    """[T], NaN where unknown."""
    colour: int
    """Its number among the checkpoints: one colour in every figure."""


def token_lines(
    lines: Sequence[TokenLine], texts: Sequence[str], *, title: str, zero: bool
) -> go.Figure:
    """Lines over token positions.

    Args:
        lines: of equal length.
        texts: what stands at each token; shown literally.
        title: what the values are.
        zero: draw the line at 0.
    """
    figure = go.Figure()
    for line in lines:
        figure.add_trace(
            go.Scatter(
                x=list(range(len(line.values))),
                y=line.values,
                name=safe_text(line.name),
                mode="lines+markers",
                marker={"size": 4},
                line={"width": 1.5, "color": COLOURS[line.colour % len(COLOURS)]},
                hovertext=[
                    f"{t} {safe_text(text)}<br>{safe_text(line.name)}: {value:.3f}"
                    for t, (text, value) in enumerate(zip(texts, line.values, strict=True))
                ],
                hoverinfo="text",
            )
        )
    if zero:
        figure.add_hline(y=0, line_width=1, line_color="#8a8f98")
    figure.update_layout(
        height=230,
        title={"text": safe_text(title), "font": {"size": 13}},
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        legend={"orientation": "h", "y": -0.2},
        xaxis={"title": None},
        hovermode="closest",
    )
    return figure
