"""The figures of a run, from its group summaries: pass rates, lengths, groups without signal.

A success is a reward at or above a threshold, which is not stored with the summaries; unscored
rollouts count in no rate and are counted apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

MIXED, ALL_RIGHT, ALL_WRONG, UNSCORED = "mixed", "all right", "all wrong", "unscored"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFigures:
    """One run in numbers; None where nothing is scored."""

    n_groups: int
    n_problems: int
    n_rollouts: int
    pass_at_1: float | None
    """Mean over groups of the share of correct rollouts."""
    pass_at_k: float | None
    """Mean over groups of the chance that k rollouts hold a correct one."""
    k: int
    """The largest k that every scored group allows."""
    mean_length: float | None
    """Tokens of a completion."""
    n_truncated: int
    n_unscored: int
    n_degenerate: int
    """Groups whose scored rewards are all equal: no advantage, nothing to learn."""


def pass_at_k(n: int, n_correct: int, k: int) -> float:
    """The chance that k of n rollouts, drawn without return, hold a correct one.

    The unbiased estimator 1 - C(n - c, k) / C(n, k) (arXiv 2107.03374, equation 1).
    """
    return 1.0 - math.comb(n - n_correct, k) / math.comb(n, k)


def group_table(summaries: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """What lists and charts show of each group, one row per row of `summaries`.

    Args:
        summaries: as `Run.summaries()` gives them.
        threshold: a reward at or above it is a success.

    Returns:
        The key and head columns, and n, n_scored, n_correct, pass_rate (NaN: nothing scored),
        outcome (MIXED, …), degenerate, mean_length, n_truncated, mean_novelty.
    """
    heads = ["global_step", "problem_id", "group", "source_id", "prompt_head", "gold"]
    table = summaries[heads].copy()
    scored = [_scored(rewards) for rewards in summaries["rewards"]]
    table["n"] = [len(rewards) for rewards in summaries["rewards"]]
    table["n_scored"] = [len(rewards) for rewards in scored]
    table["n_correct"] = [sum(r >= threshold for r in rewards) for rewards in scored]
    table["pass_rate"] = [
        correct / n if n else math.nan
        for correct, n in zip(table["n_correct"], table["n_scored"], strict=True)
    ]
    table["outcome"] = [
        _outcome(correct, n)
        for correct, n in zip(table["n_correct"], table["n_scored"], strict=True)
    ]
    table["degenerate"] = [not rewards or min(rewards) == max(rewards) for rewards in scored]
    table["mean_length"] = [
        sum(lengths) / len(lengths) if len(lengths) else math.nan
        for lengths in summaries["lengths"]
    ]
    table["total_length"] = [int(sum(lengths)) for lengths in summaries["lengths"]]
    table["n_truncated"] = summaries["n_truncated"]
    table["mean_novelty"] = summaries["mean_novelty"].astype("float64")
    return table


def run_figures(table: pd.DataFrame) -> RunFigures:
    """The figures of a whole run.

    Args:
        table: as `group_table` gives it.
    """
    scored = table[table["n_scored"] > 0]
    k = int(scored["n_scored"].min()) if len(scored) else 0
    chances = [
        pass_at_k(int(n), int(c), k)
        for n, c in zip(scored["n_scored"], scored["n_correct"], strict=True)
    ]
    n_rollouts = int(table["n"].sum())
    return RunFigures(
        n_groups=len(table),
        n_problems=table["problem_id"].nunique(),
        n_rollouts=n_rollouts,
        pass_at_1=float(scored["pass_rate"].mean()) if len(scored) else None,
        pass_at_k=sum(chances) / len(chances) if chances else None,
        k=k,
        mean_length=float(table["total_length"].sum()) / n_rollouts if n_rollouts else None,
        n_truncated=int(table["n_truncated"].sum()),
        n_unscored=n_rollouts - int(table["n_scored"].sum()),
        n_degenerate=int(table["degenerate"].sum()),
    )


def _scored(rewards: Sequence[float | None]) -> list[float]:
    return [float(r) for r in rewards if r is not None and not math.isnan(r)]


def _outcome(n_correct: int, n_scored: int) -> str:
    if n_scored == 0:
        return UNSCORED
    if n_correct in (0, n_scored):
        return ALL_RIGHT if n_correct else ALL_WRONG
    return MIXED
