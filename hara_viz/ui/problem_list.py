"""The list of problems in the sidebar: search, filter, sort, click."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import pandas as pd
import streamlit as st

from hara_viz.analysis.figures import ALL_RIGHT, ALL_WRONG, MIXED
from hara_viz.types import GroupKey
from hara_viz.ui import state
from hara_viz.ui.click_table import click_table
from hara_viz.ui.fit import group_key
from hara_viz.ui.words import count, one_line

_FILTERS = {
    "All": "every group of this run",
    "Mixed": "right and wrong rollouts: the groups that carry credit",
    "All right": "nothing but right rollouts",
    "All wrong": "nothing but wrong rollouts",
    "Degenerate": "all rewards equal, or one rollout: no advantage",
    "Bookmarked": "groups with a bookmark (Remarks, on the Rollouts page)",
}
_OUTCOMES = {"Mixed": MIXED, "All right": ALL_RIGHT, "All wrong": ALL_WRONG}
# Label -> (column, rising). Most telling first: what a reader looks for stands on top.
_ORDERS = {
    "As in the run": (None, True),
    "Hardest first": ("pass_rate", True),
    "Easiest first": ("pass_rate", False),
    "Most novel first": ("mean_novelty", False),
    "Longest first": ("length_mean", False),
}
_SHOWN = "hara.problems_shown"


def problem_list(
    table: pd.DataFrame, bookmarked: Collection[GroupKey] = (), note: str = ""
) -> None:
    """Show the groups of `analysis.figures.group_table` and move the selection on a click.

    Args:
        table: one row per group.
        bookmarked: groups with a bookmark.
        note: what must be known of the novelty; Markdown.
    """
    if table.empty:
        st.caption("No group is finished yet; one appears as soon as all its rollouts are judged.")
        st.session_state[_SHOWN] = []
        return
    words = st.text_input(
        "Problem", placeholder="Search problems", icon=":material/search:", key="problems.search"
    )
    left, right = st.columns(2, gap="small")
    chosen = left.selectbox(
        "Show", list(_FILTERS), key="problems.filter", label_visibility="collapsed"
    )
    order = right.selectbox(
        "Order", list(_ORDERS), key="problems.order", label_visibility="collapsed"
    )
    found = filtered(table, words, chosen, order, bookmarked)
    st.session_state[_SHOWN] = [group_key(row) for row in found.itertuples()]
    if found.empty:
        st.caption(f"No problem here ({_FILTERS[chosen]}). Choose “All” or clear the search.")
        return
    _grid(found)
    st.caption(f"{len(found)} of {count(len(table), 'group')}. {note}")


def filtered(
    table: pd.DataFrame,
    words: str,
    outcome: str,
    order: str,
    bookmarked: Collection[GroupKey] = (),
) -> pd.DataFrame:
    """The groups that hold all the words and have the outcome, in the order wanted. Pure."""
    keep = pd.Series(True, index=table.index)
    if outcome == "Degenerate":
        keep &= table["degenerate"]
    elif outcome == "Bookmarked":
        keys = [group_key(row) for row in table.itertuples()]
        keep &= pd.Series([key in bookmarked for key in keys], index=table.index)
    elif outcome in _OUTCOMES:
        keep &= table["outcome"] == _OUTCOMES[outcome]
    heads = table["prompt_head"].fillna("") + " " + table["source_id"].fillna("")
    heads += " " + table["problem_id"]
    for word in words.lower().split():
        keep &= heads.str.lower().str.contains(word, regex=False)
    column, rising = _ORDERS[order]
    found = cast("pd.DataFrame", table[keep])
    if column is None:
        return found
    return found.sort_values(column, ascending=rising, kind="stable", na_position="last")


def step_problem(by: int) -> None:
    """Go to the next (+1) or previous (-1) group of the list as it is shown."""
    keys = st.session_state.get(_SHOWN) or []
    selection = state.current()
    here = (selection.global_step, selection.problem, selection.group)
    if not keys:
        return
    place = keys.index(here) + by if here in keys else 0
    state.update(**_target(keys[max(0, min(place, len(keys) - 1))]))


def _grid(found: pd.DataFrame) -> None:
    selection = state.current()
    here = (selection.global_step, selection.problem or "", selection.group)
    keys = [group_key(row) for row in found.itertuples()]
    right = zip(found["n_success"], found["n_scored"], strict=True)
    click_table(
        pd.DataFrame(
            {
                "problem": [one_line(head or "", 160) for head in found["prompt_head"]],
                "right": [f"{n_success}/{n_scored}" for n_success, n_scored in right],
                "novelty": found["mean_novelty"].to_numpy(),
            }
        ),
        [_target(key) for key in keys],
        key="problems.list",
        here=keys.index(here) if here in keys else None,
        max_rows=7,
        columns={
            "problem": st.column_config.TextColumn("Problem", width=150),
            "right": st.column_config.TextColumn("Right", width=48),
            "novelty": st.column_config.NumberColumn(
                "Novelty",
                format="%.3f",
                width=58,
                help="Mean novelty by the credit that the run keeps, whatever the drawer says; "
                "– = none is kept",
            ),
        },
    )


def _target(key: tuple[int | None, str, int]) -> dict[str, object]:
    return dict(zip(("global_step", "problem", "group"), key, strict=True))
