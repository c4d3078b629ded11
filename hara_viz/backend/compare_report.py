"""The verb `compare` as one record: what the command line prints and the report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from hara_viz.analysis.agreement import Agreement
from hara_viz.analysis.drift import Drift
from hara_viz.analysis.learning_curves import METRICS, interval_text, title_of
from hara_viz.analysis.spans import span_text
from hara_viz.backend.compare import (
    Checkpoint,
    Comparison,
    Pair,
    Rule,
    RunGroups,
    compare_checkpoints,
    compare_pair,
    outline,
    run_groups,
)
from hara_viz.backend.compare_credit import read_credit
from hara_viz.backend.compare_drift import Spot, drift
from hara_viz.backend.compare_methods import compare_methods, methods_under
from hara_viz.backend.compare_read import read_answers
from hara_viz.backend.credit import default_config
from hara_viz.errors import HaraError
from hara_viz.store import Run
from hara_viz.types import GroupKey, Progress, Report, ignore_progress

__all__ = ["ComparisonReport", "TokenReport", "compare_runs", "metric_texts"]

_PATTERNS = 8
"""Of each kind and outcome, the surest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenReport:
    """What takes the credit and the states of every group."""

    drift: Drift | None
    method_labels: tuple[str, ...]
    agreement: Agreement | None
    """On the rollouts of the last checkpoint."""
    patterns: pd.DataFrame
    """Of the last checkpoint, the surest of each kind and outcome, with a column `example`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonReport:
    """Runs compared."""

    comparison: Comparison
    pairs: tuple[Pair, ...]
    """The ends of each series, then the ends of different series against each other."""
    tokens: TokenReport | None
    notes: tuple[str, ...]
    """What is missing, and why."""


def compare_runs(
    runs: Sequence[Run],
    *,
    k: int | None = None,
    rule: Rule = "half",
    tokens: bool = False,
    report: Report = ignore_progress,
) -> ComparisonReport:
    """Compare runs on their common problems.

    Args:
        runs: open runs.
        k: of pass@k and distinct answers; None: the largest that all problems allow.
        rule: when a problem counts as solved.
        tokens: also compare credit methods, barycenters and patterns, and compute novelty.
        report: hears of progress.

    Raises:
        InvalidInputError: nothing to compare, or k or the rule is out of range.
    """
    groups = _named(runs)
    place = {c.place.run: number for number, c in enumerate(outline(groups))}
    ordered = sorted(zip(runs, groups, strict=True), key=lambda pair: place.get(pair[1].name, -1))
    runs, groups = [run for run, _ in ordered], [own for _, own in ordered]
    read = {
        name: read_answers(run, report)
        for name, run in zip((g.name for g in groups), runs, strict=True)
    }
    notes: list[str] = []
    patterns = pd.DataFrame()
    if tokens:
        patterns = _with_novelty(runs, groups, read, notes, report)
    comparison = compare_checkpoints(outline(groups, read), k)
    sizes = {len(checkpoint.problems) for checkpoint in comparison.checkpoints}
    if sizes != {comparison.n_common}:
        notes.append(
            f"The checkpoints share {comparison.n_common} problems but hold {min(sizes)} to "
            f"{max(sizes)}: their curves are means over different problems."
        )
    pairs = tuple(compare_pair(a, b, rule) for a, b in _ends(comparison))
    found = None
    if tokens:
        found = _tokens(runs, groups, comparison, patterns, notes, report)
    return ComparisonReport(
        comparison=comparison, pairs=pairs, tokens=found, notes=tuple(dict.fromkeys(notes))
    )


def metric_texts(found: Comparison, place: int) -> dict[str, str]:
    """Title -> value and interval of a checkpoint, for the metrics that some checkpoint knows."""
    return {
        title_of(METRICS[name], found.k): interval_text(METRICS[name].unit, curve.points[place])
        for name, curve in found.curves.items()
        if any(point.n for point in curve.points)
    }


def _named(runs: Sequence[Run]) -> list[RunGroups]:
    """The runs under names that tell them apart."""
    counts = Counter(run.name for run in runs)
    return [
        replace(run_groups(run), name=run.name if counts[run.name] == 1 else str(run.path))
        for run in runs
    ]


def _ends(found: Comparison) -> list[tuple[Checkpoint, Checkpoint]]:
    ends = [(places[0], places[-1]) for places in found.series.values()]
    pairs = [(a, b) for a, b in ends if a != b]
    pairs += [(ends[0][1], b) for _, b in ends[1:]]
    return [(found.checkpoints[a], found.checkpoints[b]) for a, b in pairs]


def _with_novelty(
    runs: Sequence[Run],
    groups: Sequence[RunGroups],
    read: dict[str, pd.DataFrame],
    notes: list[str],
    report: Report,
) -> pd.DataFrame:
    """Add novelty to what was read; the patterns of the last run that has any."""
    patterns = pd.DataFrame()
    keys = ["global_step", "problem_id", "group"]
    for number, (run, of_run) in enumerate(zip(runs, groups, strict=True)):
        report(Progress(stage="novelty", done=number, total=len(runs), unit="runs"))
        try:
            found = read_credit(run)
        except HaraError as error:
            notes.append(str(error))
            patterns = pd.DataFrame()
            continue
        own = found.groups.astype({"global_step": "Int64"})
        read[of_run.name] = read[of_run.name].merge(own, on=keys, how="left")
        patterns = _surest(run, found.patterns)
    report(Progress(stage="novelty", done=len(runs), total=len(runs), unit="runs"))
    return patterns


def _tokens(
    runs: Sequence[Run],
    groups: Sequence[RunGroups],
    comparison: Comparison,
    patterns: pd.DataFrame,
    notes: list[str],
    report: Report,
) -> TokenReport:
    spots = [
        Spot(str(c.path), 0, c.place.step if c.in_groups else None) for c in comparison.checkpoints
    ]
    moved, agreement = None, None
    try:
        moved = drift(spots, report=report)
    except HaraError as error:
        notes.append(str(error))
    last = runs[-1]
    config = default_config(last)
    try:
        agreement = compare_methods(last, config, report=report)
    except HaraError as error:
        notes.append(str(error))
    return TokenReport(
        drift=moved,
        method_labels=tuple(method.label for method in methods_under(config)),
        agreement=agreement,
        patterns=patterns,
    )


def _surest(run: Run, patterns: pd.DataFrame) -> pd.DataFrame:
    novel: Any = patterns[(patterns["z"] > 0) & (patterns["q"] <= 0.05)]
    shown: Any = novel.groupby(["kind", "success"], sort=False).head(_PATTERNS).copy()
    shown["example"] = [_example(run, row) for row in shown.to_dict("records")]
    return shown


def _example(run: Run, row: Mapping[str, Any]) -> str:
    """The most novel occurrence with what stands around it; hostile until escaped."""
    step = row["global_step"]
    known = None if pd.isna(step) else int(step)
    key = GroupKey(known, str(row["problem_id"]), int(row["group"]))
    rollout = next(r for r in run.load_group(key).rollouts if r.sample == row["sample"])
    token = int(row["token"])
    if rollout.cell_start is None:
        return f"token {token}"
    text = span_text(rollout.completion_text, rollout.cell_start, token, token + 1, context=24)
    return f"{text.before}[{text.inside}]{text.after}"
