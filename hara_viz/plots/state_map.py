"""A map of states in three dimensions."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

_RIGHT, _WRONG, _UNKNOWN = "#3b82c4", "#dd7a2b", "#8a8f98"
_OUTCOME = {"right": _RIGHT, "wrong": _WRONG, "unscored": _UNKNOWN}
_CATEGORIES = (
    "#3b82c4", "#dd7a2b", "#2f9e76", "#c45fa0", "#b39a1e", "#6a5acd", "#20a4b5", "#c4453b",
    "#7a8b2c", "#8d6e63", "#5677fc", "#e58fb1", "#4f9d3b", "#a05ad0", "#d0a15a", "#607d8b",
)  # fmt: skip
# The token heatmap's scales, so that a value looks alike in the text, on the canvas and in space;
# where the text shows the bare page through, a point is a neutral grey.
_NEUTRAL = "#c3c9d2"
_SEQUENTIAL = [_NEUTRAL, "#fdf0c2", "#fbd189", "#f5a968", "#ea8067"]
_SIGNED = ["#6ba3dc", "#a5c8ec", "#dbe8f7", _NEUTRAL, "#fbe3c8", "#f6bd85", "#ec9450"]
_EDGE = "#4a5566"  # around a point: pale ones are seen


def safe_text(text: str) -> str:
    """Text as a hover label of Plotly shows it literally, on one line."""
    flat = text.replace("\n", "⏎").replace("\t", "⇥")
    return html.escape(flat, quote=False)


def state_map_3d(
    points: pd.DataFrame,
    texts: Sequence[str],
    values: np.ndarray,
    *,
    label: str,
    kind: str,
    domain: tuple[float, float] | None,
    categories: Sequence[str] = (),
    atoms: pd.DataFrame | None = None,
    atom_texts: Sequence[str] = (),
    lit: int | None = None,
) -> go.Figure:
    """Points with columns x, y, z in space.

    Args:
        points: [P] rows.
        texts: what each point says; shown literally.
        values: [P] numbers, or indices into `categories`; NaN = unknown.
        label: what the values are.
        kind: "sequential", "signed" or "categories".
        domain: ends of the colour scale.
        categories: names, for that kind.
        atoms: x, y, z, success of a barycenter's atoms.
        atom_texts: one for each atom.
        lit: a point to mark.
    """
    figure = go.Figure()
    hover = [safe_text(text) for text in texts]
    if kind == "categories":
        for index, name in enumerate(categories):
            own = np.flatnonzero(values == index)
            if len(own):
                colour = _OUTCOME.get(name, _CATEGORIES[index % len(_CATEGORIES)])
                figure.add_trace(_cloud(points, hover, own, safe_text(name), {"color": colour}))
    else:
        scale = _SIGNED if kind == "signed" else _SEQUENTIAL
        low, high = domain if domain is not None else (None, None)
        colours = {"color": values, "colorscale": scale, "cmin": low, "cmax": high}
        colours["colorbar"] = {"title": safe_text(label), "thickness": 12, "len": 0.7}
        every = np.arange(len(points))
        figure.add_trace(_cloud(points, hover, every, safe_text(label), colours))
    if atoms is not None and len(atoms):
        figure.add_trace(_diamonds(atoms, [safe_text(text) for text in atom_texts]))
    if lit is not None:
        marker = {"size": 9, "symbol": "circle-open", "color": "#d0312d", "line": {"width": 3}}
        figure.add_trace(_cloud(points, hover, np.array([lit]), "selected", marker))
    axis = {"showticklabels": False, "title": "", "showbackground": False}
    figure.update_layout(
        scene={"xaxis": axis, "yaxis": axis, "zaxis": axis, "aspectmode": "data"},
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        height=500,
        legend={"itemsizing": "constant", "title": {"text": safe_text(label)}},
        uirevision="state-map",
    )
    return figure


def _cloud(
    points: pd.DataFrame,
    hover: Sequence[str],
    own: np.ndarray,
    name: str,
    marker: dict[str, object],
) -> go.Scatter3d:
    chosen = points.iloc[own]
    if "colorscale" in marker:
        marker = {**marker, "opacity": 0.9, "line": {"width": 1, "color": _EDGE}}
    return go.Scatter3d(
        x=chosen["x"],
        y=chosen["y"],
        z=chosen["z"],
        mode="markers",
        name=name,
        marker={"size": 3.5, **marker},
        hovertext=[hover[i] for i in own],
        hoverinfo="text",
    )


def _diamonds(atoms: pd.DataFrame, hover: Sequence[str]) -> go.Scatter3d:
    return go.Scatter3d(
        x=atoms["x"],
        y=atoms["y"],
        z=atoms["z"],
        mode="markers",
        name="atoms",
        marker={
            "symbol": "diamond",
            "size": 6,
            "color": [_RIGHT if success else _WRONG for success in atoms["success"]],
            "line": {"width": 2, "color": "#1c2430"},
        },
        hovertext=list(hover),
        hoverinfo="text",
    )
