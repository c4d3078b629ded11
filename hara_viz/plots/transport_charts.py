"""Vega-Lite specifications of the transport page's small charts. Pure: plain data in and out.

(Plotly would put 4.7 MB of script on the page for three curves.)
"""

from __future__ import annotations

from typing import Any

RIGHT, WRONG = "#3b82c4", "#dd7a2b"
_GREY, _RED = "#8a8f98", "#c2372e"
_OUTCOME: dict[str, Any] = {
    "field": "outcome",
    "type": "nominal",
    "title": None,
    "scale": {"domain": ["right", "wrong"], "range": [RIGHT, WRONG]},
}


def residual_curve(tolerance: float) -> dict[str, Any]:
    """Relative change per round, by outcome, with the tolerance as a dashed line.

    Columns of the data: round, change, outcome.
    """
    change = {
        "field": "change",
        "type": "quantitative",
        "scale": {"type": "log"},
        "title": "relative change",
    }
    return {
        "layer": [
            {
                "mark": {"type": "line", "point": True},
                "encoding": {
                    "x": {"field": "round", "type": "quantitative", "axis": {"tickMinStep": 1}},
                    "y": change,
                    "color": _OUTCOME,
                },
            },
            {
                "data": {"values": [{"tolerance": tolerance}]},
                "mark": {"type": "rule", "strokeDash": [4, 4], "color": _GREY},
                "encoding": {"y": {"field": "tolerance", "type": "quantitative"}},
            },
        ]
    }


def sensitivity_strip(low: float) -> dict[str, Any]:
    """Rank correlation with the current setting, over the values of one setting.

    Columns of the data: value (text, in order `place`), agreement, outcome, current, converged.

    Args:
        low: where the axis of the agreement begins.
    """
    x = {
        "field": "value",
        "type": "ordinal",
        "title": None,
        "sort": {"field": "place"},
        "axis": {"labelAngle": 0, "labelOverlap": False, "labelFontSize": 10},
    }
    colour = {**_OUTCOME, "legend": None}  # the caption says it once for all strips
    y = {
        "field": "agreement",
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [low, 1], "clamp": True},
    }
    hint = [
        {"field": "value", "title": "setting"},
        {"field": "outcome"},
        {"field": "agreement", "format": ".3f"},
        {"field": "converged"},
    ]
    return {
        "layer": [
            {
                "transform": [{"filter": "datum.current"}],
                "mark": {"type": "rule", "color": _GREY, "strokeDash": [3, 3]},
                "encoding": {"x": x},
            },
            {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": colour}},
            {
                "mark": {"type": "point", "filled": True, "size": 45},
                "encoding": {
                    "x": x,
                    "y": y,
                    "tooltip": hint,
                    "color": {
                        "condition": {"test": "!datum.converged", "value": _RED},
                        **colour,
                    },
                },
            },
        ]
    }


def null_strip() -> dict[str, Any]:
    """Every span's novelty against what shuffled outcomes give it.

    Columns of the data: span (its number), rollout, z, low, high, p, beyond. No text of a model:
    it belongs in tables.
    """
    x = {"field": "span", "type": "ordinal", "axis": None, "title": None}
    hint = [
        {"field": "rollout"},
        {"field": "z", "format": ".2f"},
        {"field": "p", "format": ".3f"},
    ]
    colour = {
        "field": "beyond",
        "type": "nominal",
        "title": None,
        "scale": {
            "domain": ["beyond its null", "within its null"],
            "range": [_RED, _GREY],
        },
        "legend": {"orient": "top"},
    }
    return {
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.35, "color": _GREY},
                "encoding": {
                    "x": x,
                    "y": {"field": "low", "type": "quantitative", "title": "novelty z"},
                    "y2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": {"field": "z", "type": "quantitative"},
                    "color": colour,
                    "tooltip": hint,
                },
            },
        ]
    }
