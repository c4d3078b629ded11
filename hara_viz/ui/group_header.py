"""The head of a group: problem, gold answer, rewards, advantages, diagnostics in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.types import Rollout
from hara_viz.ui import state
from hara_viz.ui.among import narrowed
from hara_viz.ui.click_table import click_table
from hara_viz.ui.export_buttons import origin, table_downloads
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.words import count, inert, number, signed

ROLLOUT_TABLE = "rollout-table"
"""The fragment that `rollout_table` runs in."""


def group_header(view: GroupView) -> None:
    """Problem and gold, the figures of both outcomes, and what is unusual about the group."""
    first = view.group.rollouts[0]
    with st.container(height=_problem_height(first), border=False, gap=None):
        st.text(question_of(first))
    with st.container(horizontal=True, gap="xsmall"):
        st.markdown(" · ".join([*_facts(view), "gold answer"]), width="content")
        st.text(first.gold or "unknown")
    for note in notes_of(view):
        st.info(inert(note, 600), icon=":material/info:")


def question_of(rollout: Rollout) -> str:
    """The problem as its author wrote it: the last user turn, else the whole prompt."""
    turns = [m.content for m in rollout.prompt_messages or () if m.role == "user"]
    return turns[-1] if turns else rollout.prompt_text


def notes_of(view: GroupView) -> Sequence[str]:
    """The diagnostics of the group in words; none if it is healthy."""
    return [note for record in view.credit.credit.diagnostics for note in record.notes]


@st.fragment(key=ROLLOUT_TABLE)
def rollout_table(view: GroupView) -> None:
    """One line per rollout; a click shows it."""
    shown = narrowed(rollout_frame(view))
    click_table(
        shown,
        [{"sample": int(sample)} for sample in shown["rollout"]],
        key="rollouts.table",
        here=next(iter(np.flatnonzero(shown["rollout"] == state.current().sample).tolist()), None),
        max_rows=16,
        columns={
            "reward": st.column_config.NumberColumn(format="%.2f"),
            "advantage": st.column_config.NumberColumn(format="%+.3f"),
            "mean weight": st.column_config.NumberColumn(format="%.3f"),
            "mean novelty": st.column_config.NumberColumn(format="%.4f"),
        },
    )
    table_downloads(lambda: shown, lambda: origin(view), name=f"{view.file_stem}-rollouts")


def rollout_frame(view: GroupView) -> pd.DataFrame:
    """What `rollout_table` shows. Pure."""
    credit = view.credit.credit
    rows = []
    for row, rollout in enumerate(view.group.rollouts):
        weights = view.credit.own_of_row(credit.weights, row).double()
        rows.append(
            {
                "rollout": rollout.sample,
                "outcome": _OUTCOME[view.success(rollout)],
                "reward": rollout.reward,
                "answer": rollout.extracted_answer,
                "verdict": rollout.reward_reason,
                "advantage": float(credit.baseline[row]),
                "mean novelty": view.credit.mean_novelty(row),
                "mean weight": float(weights.mean()) if len(weights) else None,
                "tokens": len(rollout.completion_ids),
                "ended by": str(rollout.finish),
            }
        )
    return pd.DataFrame(rows)


_OUTCOME = {True: "right", False: "wrong", None: "unscored"}


def _facts(view: GroupView) -> list[str]:
    """Fixed words and numbers only: they are shown as Markdown."""
    rollouts = view.group.rollouts
    outcomes = [view.success(rollout) for rollout in rollouts]
    facts = [f"**{outcomes.count(True)} of {count(len(rollouts), 'rollout')} right**"]
    for success, word in ((True, "right"), (False, "wrong")):
        advantages = [
            float(a)
            for a, outcome in zip(view.credit.credit.baseline, outcomes, strict=True)
            if outcome is success
        ]
        if advantages:
            facts.append(f"advantage of a {word} one {_range(advantages)}")
    unscored = outcomes.count(None)
    if unscored:
        facts.append(f"{unscored} unscored")
    rewards = [r.reward for r in rollouts if r.reward is not None]
    if rewards:
        facts.append(f"mean reward {number(sum(rewards) / len(rewards))}")
    if view.key.global_step is not None:
        facts.append(f"training step {view.key.global_step}")
    return facts


def _range(values: list[float]) -> str:
    low, high = signed(min(values)), signed(max(values))
    return low if low == high else f"{low} to {high}"


def _problem_height(rollout: Rollout) -> int | Literal["content"]:
    long = len(question_of(rollout)) > 420 or question_of(rollout).count("\n") > 4
    return 110 if long else "content"
