"""A look into a problem set before anything is sampled; needs no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hara_viz.errors import FormatError
from hara_viz.problems import ColumnMap, SkippedRow, load_problems
from hara_viz.rewards import REWARD_NAMES, parsed_gold
from hara_viz.rewards.numerals import read_numeral
from hara_viz.types import Problem

__all__ = [
    "REWARD_NAMES",
    "ColumnMap",
    "ProblemPreview",
    "RewardAdvice",
    "advise_reward",
    "parsed_gold",
    "preview_problems",
]

_LETTER = re.compile(r"\(?[A-J]\)?\.?")
_FORMULA = re.compile(r"[0-9\\^_=<>∞π√{}\[\]()]")


class RewardAdvice(NamedTuple):
    """Which built-in reward fits a problem set."""

    reward: str
    """One of REWARD_NAMES."""
    why: str
    """The end of a sentence that begins with the reward's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemPreview:
    """What a file holds, shown before it is sampled from."""

    format: str
    n_problems: int
    n_duplicates: int
    skipped: tuple[SkippedRow, ...]
    first: Problem
    advice: RewardAdvice


def preview_problems(path: str | Path, *, columns: ColumnMap | None = None) -> ProblemPreview:
    """Read a problem set; `parsed_gold` says how a verifier reads its gold answers.

    Raises:
        MissingInputError: the file does not exist.
        FormatError: it holds no problems.
    """
    found = load_problems(path, columns=columns)
    if not found.problems:
        raise FormatError(f"{path} holds no usable problem; {len(found.skipped)} rows were skipped")
    return ProblemPreview(
        format=found.format,
        n_problems=len(found.problems),
        n_duplicates=found.n_duplicates,
        skipped=found.skipped,
        first=found.problems[0],
        advice=advise_reward([problem.gold for problem in found.problems]),
    )


def advise_reward(golds: Sequence[str | None]) -> RewardAdvice:
    """The reward that fits gold answers by what they look like: the strictest that reads them all.

    Args:
        golds: of all problems; None: a problem has none.
    """
    known = [gold.strip() for gold in golds if gold is not None]
    if not known:
        return RewardAdvice("format", "needs no gold answer, and this set has none")
    if all(read_numeral(gold) is not None for gold in known):
        return RewardAdvice("number", "fits: every gold answer is one number")
    if all(_LETTER.fullmatch(gold) for gold in known):
        return RewardAdvice("choice", "fits: every gold answer is a letter")
    if any(_FORMULA.search(gold) for gold in known):
        return RewardAdvice("math", "fits: gold answers are formulas or hold numbers")
    return RewardAdvice("exact", "fits: gold answers are words")
