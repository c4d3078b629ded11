"""What was drawn around on the map: the texts, and the words they have in common."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from hara_viz.analysis.map_values import common_words
from hara_viz.ui.click_table import click_table
from hara_viz.ui.map_data import ShownMap
from hara_viz.ui.quote import words_of_span
from hara_viz.ui.words import count, one_line

_LASSO = "hara.lasso"
_SHOWN = 300


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
    table, words = st.columns([3, 1], gap="medium")
    with table:
        click_table(
            frame.head(_SHOWN),
            [
                {"sample": int(sample), "token": int(token)}
                for sample, token in zip(
                    frame["rollout"].head(_SHOWN), frame["token"].head(_SHOWN), strict=True
                )
            ],
            key="lasso.table",
            columns={
                "rollout": st.column_config.NumberColumn(width=60),
                "token": st.column_config.NumberColumn(width=60),
                "outcome": st.column_config.TextColumn(width=70),
            },
            row_height=28,
            max_rows=8,
        )
        if len(frame) > _SHOWN:
            st.caption(f"The first {_SHOWN} of {len(frame):,}.")
    with words:
        common = common_words(frame["text"])
        st.dataframe(
            pd.DataFrame(common, columns=["most common", "times"]),
            hide_index=True,
            key="lasso.words",
            row_height=28,
            height=28 * 9 + 4,
        )


def lassoed(shown: ShownMap) -> list[int]:
    """Points in the lasso that was drawn on this very map."""
    name, points = st.session_state.get(_LASSO) or ("", ())
    if name != shown.name:
        return []
    n_points = len(shown.found.states.points)
    return sorted({point for point in points if 0 <= point < n_points})


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
