"""Learning curves: what checkpoints do on their problems, each figure with a band over problems.

A curve's value is the mean over problems, so that a problem sampled twice counts once. Figures that
hang on the number of rollouts are estimated for a common k, without bias:

    pass@k            1 − C(n − c, k) / C(n, k)                      (arXiv 2107.03374, equation 1)
    distinct answers  Σ_a 1 − C(n − n_a, k) / C(n, k)                (rarefaction, Hurlbert 1971)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hara_viz.analysis.bootstrap import Interval, mean_interval
from hara_viz.analysis.figures import pass_at_k
from hara_viz.errors import InvalidInputError

READ_COLUMNS = ("entropy", "answers", "novelty")
"""What a summary may lack: it takes the rollouts, or their credit, to know."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a checkpoint on one problem."""

    name: str
    label: str
    unit: str
    """"share", "tokens", "nats", "answers" or "cost"."""
    column: str
    """What it needs of the problem table."""
    value: Callable[[Any, int], float]
    """(a row of the problem table, k) -> the figure, NaN where unknown."""


def distinct_answers(counts: Sequence[int], n: int, k: int) -> float:
    """Expected number of different answers among k of n rollouts, drawn without return.

    Args:
        counts: how many rollouts gave each answer; rollouts without one give none.
        n: rollouts.
        k: at most n.
    """
    return sum(pass_at_k(n, count, k) for count in counts)


def _rate(row: Any, k: int) -> float:
    return row.n_success / row.n_scored if row.n_scored else math.nan


def _pass_at_k(row: Any, k: int) -> float:
    return pass_at_k(row.n_scored, row.n_success, k) if row.n_scored >= k else math.nan


def _distinct(row: Any, k: int) -> float:
    known = isinstance(row.answers, tuple) and row.n_rollouts >= k
    return distinct_answers(row.answers, row.n_rollouts, k) if known else math.nan


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("pass@1", "pass@1", "share", "n_success", _rate),
        Metric("pass@k", "pass@{k}", "share", "n_success", _pass_at_k),
        Metric("length", "Length", "tokens", "length", lambda row, k: row.length),
        Metric("truncated", "Cut off", "share", "truncated", lambda row, k: row.truncated),
        Metric("entropy", "Entropy", "nats", "entropy", lambda row, k: row.entropy),
        Metric("novelty", "Novelty", "cost", "novelty", lambda row, k: row.novelty),
        Metric("distinct", "Distinct answers among {k}", "answers", "answers", _distinct),
    )
}


@dataclass(frozen=True, slots=True)
class Curve:
    """One metric of one series: a point per checkpoint, in the order given."""

    metric: Metric
    points: tuple[Interval, ...]


def with_read(groups: pd.DataFrame, read: pd.DataFrame) -> pd.DataFrame:
    """The groups with what was read of their rollouts: further columns, by key of the group.

    Args:
        groups: as `figures.group_table` gives them.
        read: global_step, problem_id, group, and columns of READ_COLUMNS (answers: tuples of
            counts). What it lacks stays unknown.
    """
    keys = ["global_step", "problem_id", "group"]
    columns = [name for name in read.columns if name not in groups or name in keys]
    own = read[columns].astype({"global_step": "Int64"})
    return groups.astype({"global_step": "Int64"}).merge(own, on=keys, how="left")


def problem_table(groups: pd.DataFrame) -> pd.DataFrame:
    """One row per problem: its groups put together.

    Args:
        groups: one row per group of one checkpoint, as `figures.group_table` gives them or
            `with_read` adds to them.

    Returns:
        problem_id, prompt_head, gold, group (the first), n_rollouts, n_scored, n_success, length,
        truncated, entropy, novelty, answers. In the order of `groups`.
    """
    table = groups
    grouped: Any = table.groupby("problem_id", sort=False)
    sums = grouped[["n_rollouts", "n_scored", "n_success", "n_tokens", "n_truncated"]].sum()
    found = grouped[["prompt_head", "gold", "group"]].first().join(sums)
    found["length"] = found["n_tokens"] / found["n_rollouts"]
    found["truncated"] = found["n_truncated"] / found["n_rollouts"]
    found["entropy"] = _weighted(table, "entropy")
    # Computed for this comparison, else as the run keeps it.
    found["novelty"] = _weighted(table, "novelty").fillna(_weighted(table, "mean_novelty"))
    found["answers"] = _answers(table)
    found["prompt_head"] = found["prompt_head"].fillna("")
    return found.reset_index()[list(_COLUMNS)]


_COLUMNS = (
    "problem_id", "prompt_head", "gold", "group", "n_rollouts", "n_scored", "n_success", "length",
    "truncated", "entropy", "novelty", "answers",
)  # fmt: skip


def _weighted(table: pd.DataFrame, column: str) -> pd.Series:
    """By problem: the mean over its groups, each counting as many times as it has rollouts."""
    if column not in table:
        return pd.Series(math.nan, index=table["problem_id"].drop_duplicates())
    values = table[column].astype("float64")
    weights = table["n_rollouts"].where(values.notna())
    names: Any = table["problem_id"]
    total: Any = (values * weights).groupby(names, sort=False).sum(min_count=1)
    return total / weights.groupby(names, sort=False).sum(min_count=1)


def _answers(table: pd.DataFrame) -> pd.Series:
    """By problem: counts by answer. Unknown for several groups: counts do not say which answer."""
    names: Any = table["problem_id"]
    if "answers" not in table:
        return pd.Series(None, index=names.drop_duplicates(), dtype=object)
    alone = ~names.duplicated(keep=False)
    own: Any = table[alone]
    return own.set_index("problem_id")["answers"]


def common_k(tables: Sequence[pd.DataFrame]) -> int:
    """The largest k that every scored problem of every checkpoint allows; at least 1."""
    sizes = [int(n) for table in tables for n in table["n_scored"] if n > 0]
    return min(sizes, default=1)


def metric_values(table: pd.DataFrame, name: str, k: int) -> np.ndarray:
    """A metric of each problem [P], NaN where unknown.

    Raises:
        InvalidInputError: there is no such metric, or k is below 1.
    """
    if name not in METRICS:
        raise InvalidInputError(f"there is no metric {name!r}; there are {', '.join(METRICS)}")
    if k < 1:
        raise InvalidInputError(f"k is {k}; it must be at least 1")
    value = METRICS[name].value
    return np.array([value(row, k) for row in table.itertuples()], np.float64)


def curve(tables: Sequence[pd.DataFrame], name: str, k: int) -> Curve:
    """A metric along checkpoints, with bootstrap bands over problems.

    Raises:
        InvalidInputError: see `metric_values`.
    """
    points = tuple(mean_interval(metric_values(table, name, k)) for table in tables)
    return Curve(METRICS[name], points)


def value_text(unit: str, value: float) -> str:
    """A figure as a reader wants it, "–" where unknown."""
    if not math.isfinite(value):
        return "–"
    if unit == "share":
        return f"{100 * value:.1f} %"
    return f"{value:.1f}" if unit == "tokens" else f"{value:.3f}"


def interval_text(unit: str, found: Interval) -> str:
    """A figure and the ends of its interval."""
    shown = value_text(unit, found.value)
    if not math.isfinite(found.low):
        return shown
    low, high = (value_text(unit, end).removesuffix(" %") for end in (found.low, found.high))
    return f"{shown} [{low}, {high}]"


def title_of(metric: Metric, k: int) -> str:
    """The label of a metric for a k, with its unit."""
    unit = "" if metric.unit in ("share", "answers", "cost") else f" ({metric.unit})"
    return metric.label.format(k=k) + unit
