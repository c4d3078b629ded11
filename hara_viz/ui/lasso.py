"""What was drawn around on the map: the texts, and the words they have in common."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.analysis.map_values import common_steps, common_words
from hara_viz.ui.among import among_button
from hara_viz.ui.export_buttons import origin, table_downloads
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


def take_lasso(said: object) -> None:
    """A component's word for what was drawn around; what makes no sense is dropped."""
    st.session_state[_LASSO] = None
    if not isinstance(said, dict):
        return
    name, points = said.get("name"), said.get("points")
    if isinstance(name, str) and isinstance(points, list) and all(type(p) is int for p in points):
        st.session_state[_LASSO] = (name, tuple(points))


def lasso_table(shown: ShownMap) -> None:
    """The texts in the lasso; nothing while there is none on this map."""
    chosen = lassoed(shown)
    if not chosen:
        return
    frame = lasso_frame(shown, chosen)
    st.markdown(f"**{count(len(chosen), 'point')} in the lasso**")
    among_button([int(sample) for sample in frame["rollout"]], len(shown.view.group))
    table, words = st.columns([3, 1], gap="medium")
    with table:
        token_table(
            frame.head(_SHOWN),
            lasso_spots(shown, chosen[:_SHOWN]),
            key="lasso.table",
            columns=_COLUMNS,
            most=8,
        )
        if len(frame) > _SHOWN:
            st.caption(f"The first {_SHOWN} of {len(frame):,}.")
        table_downloads(lambda: frame, lambda: origin(shown.view), name="lasso")
    with words:
        _counts(common_words(frame["text"]), ["most common", "times"], "lasso.words", rows=9)
    if shown.form.granularity == "token":
        found = common_steps(step_texts(shown, chosen), frame["rollout"])
        _counts(found, ["reasoning step", "points in it", "rollouts"], "lasso.steps", rows=7)


def _counts(found: list[Any], columns: list[str], key: str, *, rows: int) -> None:
    st.dataframe(
        pd.DataFrame(found, columns=columns),
        hide_index=True,
        key=key,
        row_height=28,
        height=28 * min(rows, len(found) + 1) + 12,
    )


def step_texts(shown: ShownMap, chosen: list[int]) -> list[str]:
    """The text of the reasoning step that each chosen point lies in; empty where none is known."""
    rollouts = {rollout.sample: rollout for rollout in shown.view.group.rollouts}
    known: dict[tuple[int, int], str] = {}
    texts: list[str] = []
    for point in shown.found.states.points.iloc[chosen].itertuples():
        steps = rollouts[point.sample].reasoning_step
        if steps is None:
            texts.append("")
            continue
        name = (point.sample, steps[point.token])
        if name not in known:
            inside = [token for token, step in enumerate(steps) if step == name[1]]
            ends = (min(inside), max(inside) + 1)
            known[name] = words_of_span(rollouts[point.sample], *ends, context=0)[1]
        texts.append(known[name])
    return texts


def lassoed(shown: ShownMap) -> list[int]:
    """Points in the lasso that was drawn on this very map."""
    name, points = st.session_state.get(_LASSO) or ("", ())
    if name != shown.name:
        return []
    n_points = len(shown.found.states.points)
    return sorted({point for point in points if 0 <= point < n_points})


def lasso_spots(shown: ShownMap, chosen: list[int]) -> list[list[Spot]]:
    """Where each row of `lasso_frame` stands. Pure."""
    points = shown.found.states.points.iloc[chosen]
    return [
        [Spot(int(point.sample), int(point.token), int(point.token) + int(point.n_tokens))]
        for point in points.itertuples()
    ]


def lasso_frame(shown: ShownMap, chosen: list[int]) -> pd.DataFrame:
    """What `lasso_table` shows. Pure."""
    rollouts = {rollout.sample: rollout for rollout in shown.view.group.rollouts}
    rows = []
    for point in shown.found.states.points.iloc[chosen].itertuples():
        rollout = rollouts[point.sample]
        before, inside, after = words_of_span(rollout, point.token, point.token + point.n_tokens)
        rows.append(
            {
                "rollout": point.sample,
                "token": point.token,
                "outcome": {True: "right", False: "wrong", None: "unscored"}[
                    shown.view.success(rollout)
                ],
                "before": one_line(before[-24:]),
                "text": one_line(inside, 100),
                "after": one_line(after[:24]),
            }
        )
    return pd.DataFrame(rows)
