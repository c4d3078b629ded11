"""What is special about one training step: tables whose rows lead to their rollouts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.analysis.training_step import (
    ClippedRollout,
    OddReward,
    clipped_share,
    clipped_weights,
    has_signal,
    odd_rewards,
    problem_name,
    step_figures,
    step_frame,
)
from hara_viz.types import GroupKey, Rollout, RolloutGroup
from hara_viz.ui.click_table import click_table
from hara_viz.ui.training_data import StepView
from hara_viz.ui.words import number, one_line, percent

_ROLLOUTS = "pages/rollouts.py"
_MOST = 200
"""Rows of a table; more than anybody reads."""


def figures(view: StepView) -> None:
    """The step in five numbers."""
    found, config = step_figures(view.groups, view.threshold), view.config
    clipped = None if config is None else clipped_share(view.groups, config.weight_range)
    shown = {
        "Groups": str(found.n_groups),
        "Right": percent(found.right),
        "Groups without signal": str(found.n_without_signal),
        "Weights at a bound": percent(clipped),
        "Mean length": number(found.mean_length, 0),
    }
    for column, (label, value) in zip(st.columns(len(shown)), shown.items(), strict=True):
        column.metric(label, value)


def group_tab(view: StepView) -> None:
    """All groups of the step; those without signal first."""
    ordered = sorted(view.groups, key=has_signal)
    click_table(
        step_frame(ordered, view.threshold),
        [_group_target(group) for group in ordered],
        key="training.groups",
        page=_ROLLOUTS,
        columns={
            "problem": st.column_config.TextColumn("Problem", width=260),
            "right": st.column_config.NumberColumn("Right", width=50),
            "wrong": st.column_config.NumberColumn("Wrong", width=50),
            "unscored": st.column_config.NumberColumn("Unscored", width=70),
            "reward": st.column_config.NumberColumn("Mean reward", format="%.3f", width=90),
            "signal": st.column_config.TextColumn(
                "Signal", width=60, help="none: every advantage is 0, the step learns nothing here"
            ),
            "cut off": st.column_config.NumberColumn("Cut off", width=60),
            "tokens": st.column_config.NumberColumn("Mean length", format="%.0f", width=90),
        },
    )
    st.caption(
        "A group without signal has equal rewards: every advantage is 0, and nothing is learnt. "
        "Click a row to see the rollouts."
    )


def clipped_tab(view: StepView) -> None:
    """Rollouts with weights at a bound of the trainer's range."""
    config = view.config
    if config is None:
        st.caption(
            "No trainer recorded weights in this run; those of the selected credit are a signal of "
            "the Rollouts page."
        )
        return
    low, high = config.weight_range
    found = clipped_weights(view.groups, config.weight_range)
    if not found:
        st.caption(f"No weight of this step is at a bound ({low:g} or {high:g}).")
        return
    rollouts = _by_place(view)
    click_table(
        pd.DataFrame([_clipped_line(c, rollouts[c.key, c.sample]) for c in found[:_MOST]]),
        [_rollout_target(c.key, c.sample, c.first) for c in found[:_MOST]],
        key="training.clipped",
        page=_ROLLOUTS,
        columns={
            "problem": st.column_config.TextColumn("Problem", width=150),
            "rollout": st.column_config.NumberColumn("Rollout", width=60),
            "share": st.column_config.NumberColumn("At a bound", format="%.1f %%", width=80),
            "low": st.column_config.NumberColumn(f"At {low:g}", width=60),
            "high": st.column_config.NumberColumn(f"At {high:g}", width=60),
            "tokens": st.column_config.NumberColumn("Tokens", width=60),
            "advantage": st.column_config.NumberColumn("Advantage", format="%+.3f", width=80),
        },
    )
    st.caption(
        f"Weights are kept between {low:g} and {high:g}; where many are at a bound, novelty says "
        "more than the weight can. Click a row to see its first such token."
    )


def odd_tab(view: StepView) -> None:
    """Rewards worth a look."""
    found = odd_rewards(view.groups, view.threshold)
    if not found:
        st.caption(
            "No odd reward in this step: nothing unscored or timed out, nothing cut off and yet "
            "right, no answer in an odd place."
        )
        return
    rollouts = _by_place(view)
    click_table(
        pd.DataFrame([_odd_line(odd, rollouts[odd.key, odd.sample]) for odd in found[:_MOST]]),
        [_rollout_target(odd.key, odd.sample, None) for odd in found[:_MOST]],
        key="training.odd",
        page=_ROLLOUTS,
        columns={
            "problem": st.column_config.TextColumn("Problem", width=120),
            "rollout": st.column_config.NumberColumn("Rollout", width=60),
            "reward": st.column_config.NumberColumn("Reward", format="%.2f", width=60),
            "what": st.column_config.TextColumn("What", width=270),
            "detail": st.column_config.TextColumn("Detail", width=220),
            "answer": st.column_config.TextColumn("Answer", width=90),
            "gold": st.column_config.TextColumn("Gold", width=80),
        },
    )
    st.caption("Click a row to see the rollout.")


def _odd_line(odd: OddReward, rollout: Rollout) -> dict[str, Any]:
    return {
        "problem": _problem(rollout),
        "rollout": odd.sample,
        "reward": rollout.reward,
        "what": str(odd.oddity),
        "detail": one_line(odd.detail),
        "answer": one_line(rollout.extracted_answer or ""),
        "gold": one_line(rollout.gold or ""),
    }


def _clipped_line(clipped: ClippedRollout, rollout: Rollout) -> dict[str, Any]:
    return {
        "problem": _problem(rollout),
        "rollout": clipped.sample,
        "share": 100 * (clipped.n_low + clipped.n_high) / clipped.n_tokens,
        "low": clipped.n_low,
        "high": clipped.n_high,
        "tokens": clipped.n_tokens,
        "advantage": rollout.recorded_advantage,
    }


def _problem(rollout: Rollout) -> str:
    return one_line(problem_name(rollout), 80)


def _by_place(view: StepView) -> dict[tuple[GroupKey, int], Rollout]:
    return {(g.key, r.sample): r for g in view.groups for r in g.rollouts}


def _group_target(group: RolloutGroup) -> Mapping[str, Any]:
    key = group.key
    return {"global_step": key.global_step, "problem": key.problem_id, "group": key.group}


def _rollout_target(key: GroupKey, sample: int, token: int | None) -> Mapping[str, Any]:
    return {
        "global_step": key.global_step,
        "problem": key.problem_id,
        "group": key.group,
        "sample": sample,
        "token": token,
    }
