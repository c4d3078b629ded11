"""The pictures of the Learn page: bars, clouds of states, a barycenter and its plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from hara_viz.plots.state_map import safe_text

RIGHT, WRONG, UNKNOWN = "#3b82c4", "#dd7a2b", "#8a8f98"
_FEATURE, _STRUCTURE, _AFTER, _BEFORE = "#4583c4", "#c9862b", "#b5426f", "#9aa2ad"
_TIME = ["#8fb4da", "#4583c4", "#7a4fa3", "#b5426f", "#e0723c"]
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
_HEIGHT = 430
MOST_LINES = 160
"""Lines of a plan that are drawn, heaviest first: more would be a grey area."""


def colour_of(success: bool | None) -> str:
    """The colour of an outcome everywhere in the app; None: unscored."""
    return UNKNOWN if success is None else RIGHT if success else WRONG


def rollout_bars(
    samples: Sequence[int], values: np.ndarray, successes: Sequence[bool | None], label: str
) -> go.Figure:
    """One bar per rollout, coloured by outcome; NaN = unknown leaves a gap."""
    figure = go.Figure(
        go.Bar(
            x=[f"#{sample}" for sample in samples],
            y=values,
            marker={"color": [colour_of(success) for success in successes]},
            text=[f"{value:.2f}" for value in values],
            hovertemplate="%{x}: %{y:.4f}<extra></extra>",
        )
    )
    return _laid_out(figure, height=300, x_title="rollout", y_title=label)


def clouds(
    tokens: Sequence[np.ndarray], samples: Sequence[int], texts: Sequence[Sequence[str]]
) -> go.Figure:
    """Rollouts [T_r, 2] as clouds of tokens; colour is the location ℓ, a line the reading order."""
    figure = go.Figure()
    for r, (place, sample, words) in enumerate(zip(tokens, samples, texts, strict=True)):
        figure.add_trace(
            go.Scatter(
                x=place[:, 0],
                y=place[:, 1],
                mode="lines+markers",
                name=f"#{sample}",
                line={"width": 0.6, "color": "rgba(128,136,150,.45)"},
                marker={
                    "size": 7,
                    "symbol": _SYMBOLS[r % len(_SYMBOLS)],
                    "color": np.linspace(0, 1, len(place)),
                    "colorscale": _TIME,
                    "cmin": 0,
                    "cmax": 1,
                },
                hovertext=[safe_text(word) for word in words],
                hoverinfo="text+name",
            )
        )
    return _laid_out(figure, plane=True)


def barycenter_round(
    tokens: Sequence[np.ndarray],
    chosen: int,
    texts: Sequence[str],
    trail: np.ndarray,
    plan: np.ndarray | None,
) -> go.Figure:
    """A class's tokens, the atoms after a round with the way they came, and one rollout's plan.

    Args:
        tokens: [T_r, 2] per rollout of the class.
        chosen: whose plan and words are shown, an index into `tokens`.
        texts: its words, [T].
        trail: [n, K, 2]: the atoms from the start to this round.
        plan: [T, K] of the chosen rollout; None before the first round.
    """
    figure = go.Figure()
    others = np.concatenate([place for r, place in enumerate(tokens) if r != chosen] or [trail[0]])
    figure.add_trace(_dots(others, "the class's other tokens", UNKNOWN, 4, 0.35))
    own = tokens[chosen]
    if plan is not None:
        figure.add_trace(_plan_lines(own, trail[-1], plan))
    figure.add_trace(_trail_lines(trail))
    words = [safe_text(text) for text in texts]
    figure.add_trace(_dots(own, "tokens of this rollout", RIGHT, 7, 0.95, words))
    names = [f"atom {k}" for k in range(trail.shape[1])]
    figure.add_trace(_dots(trail[-1], "atoms", "#d0312d", 11, 1.0, names, symbol="diamond"))
    return _laid_out(figure, plane=True)


def cost_bars(words: Sequence[str], feature: np.ndarray, structure: np.ndarray) -> go.Figure:
    """Novelty per token, split in its two parts [T]."""
    place = np.arange(len(words))
    figure = go.Figure()
    hover = [f"{t}: {safe_text(word)}" for t, word in enumerate(words)]
    for name, values, colour in (
        ("states", feature, _FEATURE),
        ("structure", structure, _STRUCTURE),
    ):
        figure.add_trace(
            go.Bar(x=place, y=values, name=name, marker={"color": colour}, hovertext=hover)
        )
    figure.update_layout(barmode="stack", bargap=0.15)
    return _laid_out(_worded(figure, words), x_title="", y_title="novelty n", legend=True)


def advantage_steps(words: Sequence[str], before: float, after: np.ndarray) -> go.Figure:
    """What each token gets [T] against what all got before."""
    figure = go.Figure(
        go.Bar(
            x=np.arange(len(words)),
            y=after,
            name="HarA",
            marker={"color": _AFTER},
            hovertext=[f"{t}: {safe_text(word)}" for t, word in enumerate(words)],
        )
    )
    figure.add_hline(
        y=before, line={"color": _BEFORE, "width": 2, "dash": "dash"}, annotation_text="GRPO"
    )
    figure.update_layout(bargap=0.15)
    return _laid_out(_worded(figure, words), x_title="", y_title="advantage Â")


def _worded(figure: go.Figure, words: Sequence[str]) -> go.Figure:
    """Words under the bars as long as they can be read."""
    if len(words) <= 90:
        shown = [safe_text(word)[:14] for word in words]
        figure.update_xaxes(tickvals=list(range(len(words))), ticktext=shown, tickangle=-60)
    return figure


def _dots(
    places: np.ndarray,
    name: str,
    colour: str,
    size: int,
    opacity: float,
    hover: Sequence[str] | None = None,
    symbol: str = "circle",
) -> go.Scatter:
    return go.Scatter(
        x=places[:, 0],
        y=places[:, 1],
        mode="markers",
        name=name,
        marker={"color": colour, "size": size, "symbol": symbol},
        opacity=opacity,
        hovertext=None if hover is None else list(hover),
        hoverinfo="skip" if hover is None else "text",
    )


def _plan_lines(own: np.ndarray, atoms: np.ndarray, plan: np.ndarray) -> go.Scatter:
    """The heaviest entries of a plan as lines from token to atom."""
    order = np.argsort(plan, axis=None)[::-1][:MOST_LINES]
    order = order[plan.flat[order] > 0.02 * plan.max()]
    t, k = np.unravel_index(order, plan.shape)
    gap = np.full(len(order), np.nan)
    return go.Scatter(
        x=np.column_stack([own[t, 0], atoms[k, 0], gap]).ravel(),
        y=np.column_stack([own[t, 1], atoms[k, 1], gap]).ravel(),
        mode="lines",
        name="transport plan",
        line={"width": 0.9, "color": "rgba(59,130,196,.45)"},
        hoverinfo="skip",
    )


def _trail_lines(trail: np.ndarray) -> go.Scatter:
    gap = np.full((1, trail.shape[1], 2), np.nan)
    lines = np.concatenate([trail, gap]).transpose(1, 0, 2).reshape(-1, 2)
    return go.Scatter(
        x=lines[:, 0],
        y=lines[:, 1],
        mode="lines",
        name="way of the atoms",
        line={"width": 1.2, "color": "rgba(208,49,45,.5)"},
        hoverinfo="skip",
    )


def _laid_out(
    figure: go.Figure,
    *,
    height: int = _HEIGHT,
    plane: bool = False,
    legend: bool | None = None,
    x_title: str = "",
    y_title: str = "",
) -> go.Figure:
    shown = plane if legend is None else legend
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        showlegend=shown,
        legend={"orientation": "h", "y": 1.06},
        xaxis_title=x_title,
        yaxis_title=y_title,
        uirevision="lesson",
    )
    if plane:
        figure.update_xaxes(showticklabels=False, zeroline=False, showgrid=False)
        figure.update_yaxes(showticklabels=False, zeroline=False, showgrid=False, scaleanchor="x")
    return figure
