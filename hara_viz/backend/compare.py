"""The verb `compare`: checkpoints of one or several trainings on the same problems.

Everything here comes from the runs' summaries (`groups.parquet`), so it is quick however many
rollouts there are; `compare_read.py` reads what they lack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

import pandas as pd

from hara_viz.analysis.figures import group_table
from hara_viz.analysis.learning_curves import (
    METRICS,
    Curve,
    common_k,
    curve,
    metric_values,
    problem_table,
    with_read,
)
from hara_viz.analysis.paired import PairedTest, Rule, paired_table, paired_test
from hara_viz.errors import InvalidInputError
from hara_viz.store import Run
from hara_viz.types import RunInfo

__all__ = [
    "METRICS",
    "Checkpoint",
    "Comparison",
    "Place",
    "Rule",
    "RunGroups",
    "compare_checkpoints",
    "compare_pair",
    "group_table",
    "metric_values",
    "outline",
    "run_groups",
]


class Place(NamedTuple):
    """Which checkpoint: a run, and one of its training steps."""

    run: str
    step: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGroups:
    """A run as it is compared."""

    name: str
    path: Path
    info: RunInfo
    groups: pd.DataFrame
    """As `analysis.figures.group_table` gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One point of the curves."""

    place: Place
    path: Path
    series: str
    """Its series' id; a run without one is a series of its own."""
    method: str | None
    base: str | None
    """Fingerprint of the checkpoint that its training started from."""
    fingerprint: str | None
    weights: str | None
    """Where the checkpoint lies, as the run names it."""
    success_threshold: float
    in_groups: bool
    """Whether its groups carry the step (else it is known of the run alone)."""
    problems: pd.DataFrame
    """As `analysis.learning_curves.problem_table` gives it."""

    @property
    def label(self) -> str:
        """What it is called; hostile until escaped."""
        step = "" if self.place.step is None else f" · step {self.place.step}"
        return f"{self.place.run}{step}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Checkpoints by series and step, and their curves."""

    checkpoints: tuple[Checkpoint, ...]
    k: int
    """Of pass@k and of the distinct answers."""
    k_most: int
    """The largest k that all problems allow."""
    curves: Mapping[str, Curve]
    """By metric; one point per checkpoint."""
    n_common: int
    """Problems that all checkpoints have."""

    @property
    def series(self) -> dict[str, tuple[int, ...]]:
        """Series -> places of its checkpoints, by step."""
        found: dict[str, list[int]] = {}
        for place, checkpoint in enumerate(self.checkpoints):
            found.setdefault(checkpoint.series, []).append(place)
        return {name: tuple(places) for name, places in found.items()}

    def at(self, place: Place) -> Checkpoint | None:
        """The checkpoint of a place; None if it is not compared."""
        return next((c for c in self.checkpoints if c.place == place), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Checkpoint B against checkpoint A on the problems of both."""

    a: Checkpoint
    b: Checkpoint
    table: pd.DataFrame
    """As `analysis.paired.paired_table` gives it."""
    test: PairedTest


def run_groups(run: Run) -> RunGroups:
    """A run from its summary."""
    groups = group_table(run.summaries())
    return RunGroups(name=run.name, path=run.path, info=run.info, groups=groups)


def outline(
    runs: Sequence[RunGroups], read: Mapping[str, pd.DataFrame] | None = None
) -> tuple[Checkpoint, ...]:
    """The checkpoints of runs, by series (in the order given) and step.

    A run that holds several training steps gives one checkpoint for each.

    Args:
        runs: what is compared.
        read: by run name, what was read of its rollouts (`compare_read`, `compare_credit`).
    """
    order: dict[str, int] = {}
    found: list[Checkpoint] = []
    for run in runs:
        series = run.info.series
        name = run.name if series is None else series.id
        order.setdefault(name, len(order))
        groups = run.groups
        if read is not None and run.name in read:
            groups = with_read(groups, read[run.name])
        found += [_checkpoint(run, name, step, part) for step, part in _by_step(groups, run.info)]
    return tuple(sorted(found, key=lambda c: (order[c.series], _step_key(c), c.place.run)))


def compare_checkpoints(checkpoints: Sequence[Checkpoint], k: int | None = None) -> Comparison:
    """Curves of checkpoints.

    Args:
        checkpoints: as `outline` gives them.
        k: of pass@k and distinct answers; None: the largest that all problems allow.

    Raises:
        InvalidInputError: there are none, or k is larger than the groups.
    """
    if not checkpoints:
        raise InvalidInputError("there is nothing to compare; name runs that hold groups")
    tables = [checkpoint.problems for checkpoint in checkpoints]
    most = common_k(tables)
    k = most if k is None else k
    if not 1 <= k <= most:
        raise InvalidInputError(
            f"k is {k}; it must be from 1 to {most}, the smallest number of scored rollouts of a "
            "problem"
        )
    common = set.intersection(*(set(table["problem_id"]) for table in tables))
    return Comparison(
        checkpoints=tuple(checkpoints),
        k=k,
        k_most=most,
        curves={name: curve(tables, name, k) for name in METRICS},
        n_common=len(common),
    )


def compare_pair(a: Checkpoint, b: Checkpoint, rule: Rule = "half") -> Pair:
    """Two checkpoints, problem by problem."""
    table = paired_table(a.problems, b.problems, rule)
    return Pair(a=a, b=b, table=table, test=paired_test(table, rule))


def _step_key(checkpoint: Checkpoint) -> int:
    return -1 if checkpoint.place.step is None else checkpoint.place.step


def _by_step(groups: pd.DataFrame, info: RunInfo) -> list[tuple[int | None, pd.DataFrame]]:
    """The groups of each training step; those of unknown step under the run's own."""
    steps = groups["global_step"].astype("Int64")
    if info.global_step is not None:
        steps = steps.fillna(info.global_step)
    parts = groups.groupby(steps, sort=True, dropna=False)
    return [
        (None if pd.isna(cast("float", step)) else int(cast("int", step)), part)
        for step, part in parts
    ]


def _checkpoint(run: RunGroups, series: str, step: int | None, groups: pd.DataFrame) -> Checkpoint:
    info, known = run.info, run.info.checkpoint
    return Checkpoint(
        place=Place(run.name, step),
        path=run.path,
        series=series,
        method=info.series.method if info.series else None,
        base=info.series.base_fingerprint if info.series else None,
        fingerprint=known.fingerprint if known else None,
        weights=known.path if known else None,
        success_threshold=info.success_threshold,
        in_groups=bool(groups["global_step"].notna().all()),
        problems=problem_table(groups),
    )
