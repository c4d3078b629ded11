"""A square of numbers between named things, each written into its cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from hara_viz.plots.state_map import safe_text

# Ends of both scales are pale enough for dark figures and dark enough for pale ones.
_SEQUENTIAL = [[0.0, "#eef3f9"], [0.5, "#a5c8ec"], [1.0, "#4583c4"]]
_SIGNED = [[0.0, "#ec9450"], [0.5, "#f4f4f4"], [1.0, "#6ba3dc"]]


def matrix_figure(
    values: np.ndarray,
    names: Sequence[str],
    *,
    label: str,
    digits: int = 2,
    signed: bool = False,
    hover: Sequence[Sequence[str]] | None = None,
) -> go.Figure:
    """A heat map [M, M], first name on top.

    Args:
        values: NaN stays blank.
        names: of rows and columns; shown literally.
        label: what the numbers are.
        digits: after the point.
        signed: −1 … 1 with 0 pale; else from the smallest to the largest.
        hover: [M][M] what a cell says; else its names and value.
    """
    shown = [safe_text(name) for name in names]
    texts = [[f"{v:z.{digits}f}" if np.isfinite(v) else "" for v in row] for row in values]
    said = hover or [
        [f"{a} · {b}: {text or '–'}" for b, text in zip(names, row, strict=True)]
        for a, row in zip(names, texts, strict=True)
    ]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=list(range(len(names))),
            y=list(range(len(names))),
            text=texts,
            texttemplate="%{text}",
            textfont={"size": 11, "color": "#16202c"},
            hovertext=[[safe_text(cell) for cell in row] for row in said],
            hoverinfo="text",
            colorscale=_SIGNED if signed else _SEQUENTIAL,
            zmin=-1 if signed else None,
            zmax=1 if signed else None,
            showscale=False,
            xgap=1,
            ygap=1,
        )
    )
    _lay_out(figure, shown, label)
    return figure


def _lay_out(figure: go.Figure, names: Sequence[str], label: str) -> None:
    ticks = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": list(names)}
    figure.update_layout(
        height=26 * len(names) + 130,
        margin={"l": 8, "r": 8, "t": 28, "b": 8},
        title={"text": safe_text(label), "font": {"size": 13}},
        xaxis={**ticks, "tickangle": -40, "showgrid": False, "zeroline": False},
        yaxis={**ticks, "autorange": "reversed", "showgrid": False, "zeroline": False},
        uirevision="matrix",
    )
