"""What was drawn around on the map: the texts, and the words they have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.analysis.map_values import common_steps, common_words
from hara_viz.types import Rollout
from hara_viz.ui.among import among_button
from hara_viz.ui.click_table import click_table
from hara_viz.ui.export_buttons import origin, table_downloads
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.map_data import ShownMap
from hara_viz.ui.quote import words_of_span
from hara_viz.ui.token_table import Column, Spot, token_table
from hara_viz.ui.words import count, one_line

_LASSO = "hara.lasso"
_SHOWN = 300
_COLUMNS = (
    Column("rollout", 60),
    Column("token", 60),
    Column("outcome", 70),
    Column("before", 176),
    Column("text", 110),
    Column("after", 176),
)


@dataclass(frozen=True, slots=True)
class MapTexts:
    """The points of a map as a lasso tells of them."""

    name: str
    """Of the map."""
    points: pd.DataFrame
    """Columns sample, token (the first one) and n_tokens."""
    keys: Sequence[Hashable]
    """Whose each point is: a key of `rollouts`."""
    rollouts: Mapping[Any, tuple[Rollout, bool | None]]
    """With their outcome."""
    by_step: bool
    """Points are reasoning steps."""
    groups: Mapping[Any, str]
    """What each rollout's group is called; empty: there is one."""
    here: Callable[[Any], bool]
    """Whether a rollout is of the selected group."""
    target: Callable[[int], dict[str, object]] | None
    """Of a point: the move that leads to its group; None: all are of the selected one."""
    view: GroupView
    """The selected group."""


def take_lasso(said: object) -> None:
    """A component's word for what was drawn around; what makes no sense is dropped."""
    st.session_state[_LASSO] = None
    if not isinstance(said, dict):
        return
    name, points = said.get("name"), said.get("points")
    if isinstance(name, str) and isinstance(points, list) and all(type(p) is int for p in points):
        st.session_state[_LASSO] = (name, tuple(points))


def lasso_table(shown: ShownMap) -> None:
    """The texts in the lasso on a group's map; nothing while there is none."""
    texts_table(group_texts(shown))


def group_texts(shown: ShownMap) -> MapTexts:
    """The points of a map of one group."""
    points = shown.found.states.points
    return MapTexts(
        name=shown.name,
        points=points,
        keys=points["sample"].tolist(),
        rollouts={r.sample: (r, shown.view.success(r)) for r in shown.view.group.rollouts},
        by_step=shown.form.granularity == "step",
        groups={},
        here=lambda key: True,
        target=None,
        view=shown.view,
    )


def texts_table(texts: MapTexts) -> None:
    """The texts in the lasso, their words and reasoning steps; nothing while there is none."""
    chosen = lassoed(texts)
    if not chosen:
        return
    frame = lasso_frame(texts, chosen)
    keys = [texts.keys[point] for point in chosen]
    st.markdown(f"**{count(len(chosen), 'point')} in the lasso**")
    if here := [texts.rollouts[key][0].sample for key in keys if texts.here(key)]:
        among_button(here, len(texts.view.group))
    table, words = st.columns([3, 1], gap="medium")
    with table:
        _rows(texts, frame, chosen[:_SHOWN])
        if len(frame) > _SHOWN:
            st.caption(f"The first {_SHOWN} of {len(frame):,}.")
        table_downloads(lambda: frame, lambda: origin(texts.view), name="lasso")
    with words:
        _counts(common_words(frame["text"]), ["most common", "times"], "lasso.words", rows=9)
    if not texts.by_step:
        found = common_steps(step_texts(texts, chosen), keys)
        _counts(found, ["reasoning step", "points in it", "rollouts"], "lasso.steps", rows=7)


def _rows(texts: MapTexts, frame: pd.DataFrame, chosen: Sequence[int]) -> None:
    """Tokens of the selected group are lit in every view; those of others lead to their group."""
    first = frame.head(len(chosen))
    if texts.target is None:
        spots = lasso_spots(texts, chosen)
        token_table(first, spots, key="lasso.table", columns=_COLUMNS, most=8)
        return
    click_table(
        first,
        [texts.target(point) for point in chosen],
        key="lasso.groups",
        columns={
            "group": st.column_config.TextColumn(width=110),
            **{c.name: st.column_config.Column(width=c.width) for c in _COLUMNS},
        },
        row_height=28,
        max_rows=8,
    )


def _counts(found: list[Any], columns: list[str], key: str, *, rows: int) -> None:
    st.dataframe(
        pd.DataFrame(found, columns=columns),
        hide_index=True,
        key=key,
        row_height=28,
        height=28 * min(rows, len(found) + 1) + 12,
    )


def step_texts(texts: MapTexts, chosen: Sequence[int]) -> list[str]:
    """The text of the reasoning step that each chosen point lies in; empty where none is known."""
    known: dict[tuple[Hashable, int], str] = {}
    found: list[str] = []
    for point, token in zip(chosen, texts.points["token"].iloc[chosen], strict=True):
        key = texts.keys[point]
        rollout, _ = texts.rollouts[key]
        steps = rollout.reasoning_step
        if steps is None:
            found.append("")
            continue
        name = (key, steps[token])
        if name not in known:
            inside = [token for token, step in enumerate(steps) if step == name[1]]
            ends = (min(inside), max(inside) + 1)
            known[name] = words_of_span(rollout, *ends, context=0)[1]
        found.append(known[name])
    return found


def is_lassoed(name: str) -> bool:
    """Whether something was drawn around on the map of this name."""
    return (st.session_state.get(_LASSO) or ("",))[0] == name


def lassoed(texts: MapTexts) -> list[int]:
    """Points in the lasso that was drawn on this very map."""
    name, points = st.session_state.get(_LASSO) or ("", ())
    if name != texts.name:
        return []
    return sorted({point for point in points if 0 <= point < len(texts.points)})


def lasso_spots(texts: MapTexts, chosen: Sequence[int]) -> list[list[Spot]]:
    """Where each row of `lasso_frame` stands in the selected group. Pure."""
    points = texts.points.iloc[list(chosen)]
    return [
        [Spot(int(point.sample), int(point.token), int(point.token) + int(point.n_tokens))]
        for point in points.itertuples()
    ]


def lasso_frame(texts: MapTexts, chosen: Sequence[int]) -> pd.DataFrame:
    """What `texts_table` shows. Pure."""
    rows = []
    lines = texts.points[["token", "n_tokens"]].iloc[list(chosen)].itertuples(index=False)
    for point, (token, n_tokens) in zip(chosen, lines, strict=True):
        key = texts.keys[point]
        rollout, success = texts.rollouts[key]
        before, inside, after = words_of_span(rollout, token, token + n_tokens, context=24)
        group = {"group": one_line(texts.groups[key], 60)} if texts.groups else {}
        rows.append(
            {
                **group,
                "rollout": rollout.sample,
                "token": token,
                "outcome": {True: "right", False: "wrong", None: "unscored"}[success],
                "before": one_line(before),
                "text": one_line(inside, 100),
                "after": one_line(after),
            }
        )
    return pd.DataFrame(rows)
