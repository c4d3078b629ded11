"""The figures of a run, from its group summaries: pass rates, lengths, groups without signal.

Unscored rollouts count in no rate and are counted apart.
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


def group_table(summaries: pd.DataFrame) -> pd.DataFrame:
    """`summaries` with two columns more: outcome (MIXED, …) and degenerate.

    Args:
        summaries: one row per group, as `Run.summaries()` gives them.
    """
    table = summaries.copy()
    table["outcome"] = [
        _outcome(n_success, n_scored)
        for n_success, n_scored in zip(table["n_success"], table["n_scored"], strict=True)
    ]
    scored = [_scored(rewards) for rewards in table["rewards"]]
    table["degenerate"] = [not rewards or min(rewards) == max(rewards) for rewards in scored]
    table["mean_novelty"] = table["mean_novelty"].astype("float64")  # None -> NaN
    return table


def run_figures(table: pd.DataFrame) -> RunFigures:
    """The figures of a whole run.

    Args:
        table: as `group_table` gives it.
    """
    n_scored: list[int] = table["n_scored"].tolist()
    n_success: list[int] = table["n_success"].tolist()
    scored = [(n, c) for n, c in zip(n_scored, n_success, strict=True) if n > 0]
    k = min((n for n, _ in scored), default=0)
    n_rollouts, n_tokens = sum(table["n_rollouts"].tolist()), sum(table["n_tokens"].tolist())
    return RunFigures(
        n_groups=len(table),
        n_problems=len(set(table["problem_id"].tolist())),
        n_rollouts=n_rollouts,
        pass_at_1=_mean([c / n for n, c in scored]),
        pass_at_k=_mean([pass_at_k(n, c, k) for n, c in scored]),
        k=k,
        mean_length=n_tokens / n_rollouts if n_rollouts else None,
        n_truncated=sum(table["n_truncated"].tolist()),
        n_unscored=n_rollouts - sum(n_scored),
        n_degenerate=sum(table["degenerate"].tolist()),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _scored(rewards: Sequence[float | None]) -> list[float]:
    return [float(r) for r in rewards if r is not None and not math.isnan(r)]


def _outcome(n_success: int, n_scored: int) -> str:
    if n_scored == 0:
        return UNSCORED
    if n_success in (0, n_scored):
        return ALL_RIGHT if n_success else ALL_WRONG
    return MIXED
