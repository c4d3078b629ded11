"""What a comparison needs of the rollouts themselves: entropies and answers, without their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from hara_viz.store import Run, layout, open_run
from hara_viz.store.parquet import read_table
from hara_viz.store.rewards import read_rewards
from hara_viz.types import Progress, Report, ignore_progress

_COLUMNS = ("global_step", "problem_id", "group", "extracted_answer", "entropy")


def read_answers(run: Run, report: Report = ignore_progress) -> pd.DataFrame:
    """Entropy and answers of each group.

    Args:
        run: an open run.
        report: hears of progress in parts.

    Returns:
        global_step, problem_id, group; entropy: mean over rollouts of the mean over tokens, NaN
        where unknown; answers: how many rollouts gave each answer, largest first.
    """
    tables: list[pd.DataFrame] = []
    for number, part in enumerate(run.parts):
        report(Progress(stage="reading", done=number, total=len(run.parts), unit="parts"))
        tables.append(_part(run, part))
    if not tables:
        return pd.DataFrame(columns=["global_step", "problem_id", "group", "entropy", "answers"])
    rows = pd.concat(tables, ignore_index=True).astype({"global_step": "Int64"})
    keys = ["global_step", "problem_id", "group"]
    found = rows.groupby(keys, sort=False, dropna=False).agg(
        entropy=("entropy", "mean"), answers=("answer", _counts)
    )
    return found.reset_index()


def read_answers_at(path: str, stamp: int) -> pd.DataFrame:
    """`read_answers` by the run's path, for the side process; `stamp` names the state on disk."""
    del stamp
    return read_answers(open_run(path))


def _part(run: Run, part: str) -> pd.DataFrame:
    table = read_table(layout.rollouts_path(run.path, part), _COLUMNS)
    answers = table.column("extracted_answer").to_pylist()
    if run.rewards_version is not None:
        judged = read_rewards(run.path, run.rewards_version, part)
        if len(judged) == len(answers):
            answers = [row["extracted_answer"] for row in judged]
    entropy = _list_means(table.column("entropy"))
    if np.isnan(entropy).all() and run.readers:  # perhaps its own checkpoint read it later
        rollouts = [r for group in run.load_part(part) for r in group.rollouts]
        entropy = np.array([_mean(r.entropy) for r in rollouts])
    return pd.DataFrame(
        {
            "global_step": table.column("global_step").to_pylist(),
            "problem_id": table.column("problem_id").to_pylist(),
            "group": table.column("group").to_pylist(),
            "answer": pd.Series(answers, dtype=object),
            "entropy": entropy,
        }
    )


def _list_means(column: pa.ChunkedArray) -> np.ndarray:
    """The mean of what is known in each list (NaN: not sampled); NaN where nothing is."""
    parts: list[np.ndarray] = []
    for chunk in column.chunks:
        counts = np.asarray(chunk.value_lengths().fill_null(0), np.int64)
        values = np.asarray(chunk.flatten().fill_null(float("nan")), np.float64)
        known, ends = np.isfinite(values), np.cumsum(counts)
        running = np.cumsum([np.where(known, values, 0.0), known], axis=1)
        running = np.hstack([np.zeros((2, 1)), running])
        total, n = running[:, ends] - running[:, ends - counts]
        parts.append(np.divide(total, n, out=np.full(len(counts), np.nan), where=n > 0))
    return np.concatenate(parts) if parts else np.zeros(0)


def _mean(values: Sequence[float] | None) -> float:
    known = [v for v in values or () if np.isfinite(v)]
    return float(np.mean(known)) if known else float("nan")


def _counts(answers: pd.Series) -> tuple[int, ...]:
    return tuple(sorted(Counter(a for a in answers if isinstance(a, str)).values(), reverse=True))
