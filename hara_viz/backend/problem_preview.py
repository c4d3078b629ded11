"""A look into a problem set before anything is sampled; needs no model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hara_viz.errors import FormatError
from hara_viz.problems import ColumnMap, SkippedRow, load_problems
from hara_viz.rewards import REWARD_NAMES, parsed_gold
from hara_viz.types import Problem

__all__ = ["REWARD_NAMES", "ColumnMap", "ProblemPreview", "preview_problems"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemPreview:
    """What a file holds, shown before it is sampled from."""

    format: str
    n_problems: int
    n_duplicates: int
    skipped: tuple[SkippedRow, ...]
    first: Problem
    gold_understood: str | None
    """How the verifier reads the first problem's gold answer; None: it has none."""


def preview_problems(
    path: str | Path, *, reward: str, columns: ColumnMap | None = None, limit: int | None = None
) -> ProblemPreview:
    """Read a problem set and let the verifier read its first gold answer.

    Raises:
        MissingInputError: the file does not exist.
        FormatError: it holds no problems, or the gold answer cannot be read.
    """
    found = load_problems(path, columns=columns, limit=limit)
    if not found.problems:
        raise FormatError(f"{path} holds no usable problem; {len(found.skipped)} rows were skipped")
    first = found.problems[0]
    return ProblemPreview(
        format=found.format,
        n_problems=len(found.problems),
        n_duplicates=found.n_duplicates,
        skipped=found.skipped,
        first=first,
        gold_understood=None if first.gold is None else parsed_gold(reward, first.gold),
    )
