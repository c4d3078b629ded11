"""Checkpoint A against B, problem by problem: what was solved, what was lost, and is it chance?"""

from __future__ import annotations

from typing import cast, get_args

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.analysis.paired import KEPT, LOST, SOLVED, UNSCORED, UNSOLVED, PairedTest
from hara_viz.backend.compare import Checkpoint, Rule, compare_pair
from hara_viz.ui import state
from hara_viz.ui.click_table import click_table
from hara_viz.ui.compare_choice import Chosen, group_key
from hara_viz.ui.words import count, number, one_line, signed

_RULES = {"half": "at least half", "any": "at least one", "all": "all"}
_FILTERS = ("All", "Solved", "Lost", "Better", "Worse", "Unchanged")


def problems_view(chosen: Chosen) -> None:
    """The tests, the filters and the table."""
    left, middle, right = st.columns([2, 3, 2], gap="small", vertical_alignment="bottom")
    rule = cast(
        "Rule",
        left.selectbox(
            "A problem is solved if … of its rollouts are right",
            get_args(Rule),
            format_func=lambda name: _RULES[name],
            key="compare.rule",
        ),
    )
    pair = compare_pair(chosen.a, chosen.b, rule)
    kept = middle.segmented_control(
        "Show", _FILTERS, default="All", required=True, key="compare.filter"
    )
    side = right.segmented_control(
        "A click opens the group of", ["A", "B"], default="B", required=True, key="compare.side"
    )
    for sentence in test_lines(pair.test):
        st.markdown(sentence)
    shown = filtered(pair.table, str(kept))
    if shown.empty:
        st.caption("No problem is left; choose “All”, or checkpoints that share problems.")
        return
    opened = chosen.a if side == "A" else chosen.b
    click_table(
        problem_frame(shown),
        [target(chosen, opened, str(name)) for name in shown["problem_id"]],
        key="compare.problems",
        here=_here(shown),
        max_rows=14,
        columns=_COLUMNS,
    )
    st.caption(f"{len(shown)} of {count(len(pair.table), 'problem')} that both have.")
    st.page_link("pages/rollouts.py", label="Rollouts of this group", icon=":material/segment:")


def test_lines(test: PairedTest) -> list[str]:
    """The tests in words. Numbers and fixed words only: shown as Markdown. Pure."""
    interval, p_value = test.difference.interval, test.difference.p_value
    ends = (
        f" [{signed(interval.low)}, {signed(interval.high)}], p = {number(p_value)}"
        if interval.n > 1
        else ""
    )
    return [
        f"**{test.n_solved} solved, {test.n_lost} lost** of {count(test.n_problems, 'problem')} "
        f"· exact McNemar p = {number(test.p_mcnemar)} "
        f"· pass@1 of B − A **{signed(interval.value)}**{ends} (paired bootstrap over problems)"
    ]


def filtered(table: pd.DataFrame, kept: str) -> pd.DataFrame:
    """The problems that a filter keeps, the largest change first. Pure."""
    change = table["change"]
    masks = {
        "Solved": table["verdict"] == SOLVED,
        "Lost": table["verdict"] == LOST,
        "Better": change > 0,
        "Worse": change < 0,
        "Unchanged": change == 0,
    }
    found = cast("pd.DataFrame", table[masks[kept]]) if kept in masks else table
    size = np.nan_to_num(np.abs(found["change"].to_numpy(float)), nan=-1.0)
    order = np.argsort(-size, kind="stable")
    return found.iloc[order]


def problem_frame(table: pd.DataFrame) -> pd.DataFrame:
    """What the table shows. Pure."""
    return pd.DataFrame(
        {
            "problem": [one_line(head, 160) for head in table["prompt_head"]],
            "gold": [one_line(str(g)) if isinstance(g, str) else None for g in table["gold"]],
            "A": _counts(table, "a"),
            "B": _counts(table, "b"),
            "change": table["change"].to_numpy(float),
            "verdict": [_VERDICTS[str(verdict)] for verdict in table["verdict"]],
        }
    )


def target(chosen: Chosen, opened: Checkpoint, problem: str) -> dict[str, object]:
    """The move that opens a problem of a checkpoint. Pure."""
    return chosen.showing(opened.place.run, group_key(opened, problem))


def _counts(table: pd.DataFrame, side: str) -> list[str]:
    pairs = zip(table[f"n_success_{side}"], table[f"n_scored_{side}"], strict=True)
    return [f"{n_success}/{n_scored}" for n_success, n_scored in pairs]


def _here(table: pd.DataFrame) -> int | None:
    names = table["problem_id"].tolist()
    problem = state.current().problem
    return names.index(problem) if problem in names else None


_VERDICTS = {
    SOLVED: "solved",
    LOST: "lost",
    KEPT: "solved by both",
    UNSOLVED: "solved by neither",
    UNSCORED: "unscored",
}
_COLUMNS = {
    "problem": st.column_config.TextColumn("Problem", width=420),
    "gold": st.column_config.TextColumn("Gold", width=70),
    "A": st.column_config.TextColumn("Right, A", width=64),
    "B": st.column_config.TextColumn("Right, B", width=64),
    "change": st.column_config.NumberColumn("Change", format="%+.3f", width=70),
    "verdict": st.column_config.TextColumn("Verdict", width=110),
}
