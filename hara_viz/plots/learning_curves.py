"""Learning curves as small multiples: a box per metric, a line per series, bands over problems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from hara_viz.analysis.bootstrap import Interval
from hara_viz.analysis.learning_curves import Curve, interval_text
from hara_viz.plots.state_map import safe_text

# Okabe and Ito: told apart by colour-blind readers; dashes and markers say it once more.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8f98")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
_MARKERS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star")
_COLUMNS = 4
_PER_CENT = ".0%"


@dataclass(frozen=True, slots=True)
class CurveSeries:
    """One line of every box."""

    name: str
    steps: tuple[float, ...]
    """Where its points stand."""
    labels: tuple[str, ...]
    """What each point is; shown literally."""
    places: tuple[int, ...]
    """Which points of a curve are its own."""


def learning_curves(
    curves: Mapping[str, Curve],
    series: Sequence[CurveSeries],
    *,
    titles: Mapping[str, str],
    marks: Mapping[str, int] | None = None,
) -> go.Figure:
    """Boxes in the order of `curves`.

    Args:
        curves: metrics to show.
        series: lines.
        titles: heading of each box.
        marks: places to mark with a letter ("A", "B").
    """
    rows = math.ceil(len(curves) / _COLUMNS)
    figure = make_subplots(
        rows=rows,
        cols=_COLUMNS,
        subplot_titles=[titles[name] for name in curves],
        horizontal_spacing=0.055,
        vertical_spacing=0.2 / max(rows - 1, 1) if rows > 1 else 0.0,
    )
    for number, (name, found) in enumerate(curves.items()):
        cell: dict[str, Any] = {"row": number // _COLUMNS + 1, "col": number % _COLUMNS + 1}
        for index, line in enumerate(series):
            for trace in _traces(found, line, index, legend=number == 0):
                figure.add_trace(trace, **cell)
        for letter, place in (marks or {}).items():
            _mark(figure, found, series, letter, place, cell)
        if found.metric.unit == "share":
            figure.update_yaxes(tickformat=_PER_CENT, **cell)
        figure.update_yaxes(rangemode="tozero" if name == "truncated" else "normal", **cell)
    figure.update_layout(
        height=232 * rows + 40,
        margin={"l": 8, "r": 8, "t": 30, "b": 8},
        legend={"orientation": "h", "yanchor": "top", "y": -0.1, "x": 0},
        hovermode="closest",
        uirevision="learning-curves",
    )
    figure.update_annotations(font_size=13)
    return figure


def _traces(found: Curve, line: CurveSeries, index: int, *, legend: bool) -> list[go.Scatter]:
    colour = COLOURS[index % len(COLOURS)]
    known = [i for i, p in enumerate(line.places) if math.isfinite(found.points[p].value)]
    points = [found.points[line.places[i]] for i in known]
    steps = [line.steps[i] for i in known]
    style = {
        "line": {"color": colour, "dash": _DASHES[index % len(_DASHES)], "width": 2},
        "marker": {"symbol": _MARKERS[index % len(_MARKERS)], "size": 7},
    }
    hover = [_hover(found, p, line.labels[i]) for i, p in zip(known, points, strict=True)]
    whole = go.Scatter(
        x=steps,
        y=[p.value for p in points],
        mode="lines+markers",
        name=safe_text(line.name),
        legendgroup=str(index),
        showlegend=legend,
        hovertext=hover,
        hoverinfo="text",
        **style,
    )
    banded = [(s, p) for s, p in zip(steps, points, strict=True) if math.isfinite(p.low)]
    if len(banded) < 2:
        whole.update(error_y=_bars(points))
        return [whole]
    band = go.Scatter(
        x=[s for s, _ in banded] + [s for s, _ in reversed(banded)],
        y=[p.high for _, p in banded] + [p.low for _, p in reversed(banded)],
        mode="lines",
        fill="toself",
        fillcolor=_faint(colour),
        line={"width": 0},
        legendgroup=str(index),
        showlegend=False,
        hoverinfo="skip",
    )
    return [band, whole]


def _bars(points: Sequence[Interval]) -> dict[str, object]:
    above = [p.high - p.value for p in points]
    below = [p.value - p.low for p in points]
    return {"type": "data", "array": above, "arrayminus": below, "thickness": 1}


def _hover(found: Curve, point: Interval, label: str) -> str:
    shown = interval_text(found.metric.unit, point)
    return f"{safe_text(label)}<br>{shown}<br>{point.n} problems"


def _mark(
    figure: go.Figure,
    found: Curve,
    series: Sequence[CurveSeries],
    letter: str,
    place: int,
    cell: dict[str, Any],
) -> None:
    at = [(line.steps[line.places.index(place)]) for line in series if place in line.places]
    value = found.points[place].value
    if at and math.isfinite(value):
        figure.add_annotation(
            x=at[0], y=value, text=letter, showarrow=False, yshift=12, font={"size": 11}, **cell
        )


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.15)"
