"""What is novel again and again: words, reasoning steps and positions over a problem set.

Novelty is standardised inside its outcome class, z = (n − mean) / std over the class's tokens,
since levels cannot be compared between classes. An element's z in a problem is the mean over its
occurrences there; problems, not occurrences, are what is counted and tested.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from hara_viz.analysis.intervals import false_discovery_rates, mean_test
from hara_viz.types import GroupKey, Rollout

Kind = Literal["word", "step", "position"]
KINDS: tuple[Kind, ...] = ("word", "step", "position")
MIN_PROBLEMS = 3
_POSITIONS = 10
_LONGEST_STEP = 90
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+(?:[.,]\d+)*|\\[a-zA-Z]+|[^\w\s]|_+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Occurrence(NamedTuple):
    """An element in one rollout."""

    kind: Kind
    text: str
    """Numbers as #, so that problems can share it."""
    token: int
    """Its first token in the completion."""
    z: float


@dataclass(slots=True)
class _Tally:
    n: int = 0
    by_problem: dict[str, list[float]] = field(default_factory=lambda: {})
    best: tuple[float, GroupKey, int, int] | None = None


class PatternCount:
    """Collects occurrences rollout by rollout, and tests them in the end."""

    def __init__(self, special_ids: Collection[int] = ()) -> None:
        self._special = frozenset(special_ids)
        self._tallies: dict[tuple[Kind, str, bool], _Tally] = {}

    def add(self, key: GroupKey, rollout: Rollout, success: bool, z: np.ndarray) -> None:
        """Count a scored rollout: its novelty z [T], NaN on tokens that are not its own."""
        for found in occurrences(rollout, z, self._special):
            tally = self._tallies.setdefault((found.kind, found.text, success), _Tally())
            tally.n += 1
            tally.by_problem.setdefault(key.problem_id, []).append(found.z)
            if tally.best is None or found.z > tally.best[0]:
                tally.best = (found.z, key, rollout.sample, found.token)

    def table(self, min_problems: int = MIN_PROBLEMS) -> pd.DataFrame:
        """Every element that occurs in enough problems, the surest first.

        Returns:
            kind, text, success, n, n_problems, share (of the problems where its mean z is above
            0), z (mean over problems), low, high (95 %, t), q (Benjamini-Hochberg within kind and
            outcome), and its most novel example: global_step, problem_id, group, sample, token.
        """
        rows = [
            _row(kind, text, success, tally)
            for (kind, text, success), tally in self._tallies.items()
            if len(tally.by_problem) >= min_problems
        ]
        table = pd.DataFrame(rows, columns=list(_COLUMNS))
        table["q"] = np.nan
        for _, part in table.groupby(["kind", "success"]):
            table.loc[part.index, "q"] = false_discovery_rates(part["p"].to_numpy(float))
        ordered = table.sort_values(["low", "text"], ascending=[False, True], kind="stable")
        return ordered.drop(columns="p").reset_index(drop=True)


_COLUMNS = (
    "kind", "text", "success", "n", "n_problems", "share", "z", "low", "high", "p",
    "global_step", "problem_id", "group", "sample", "token",
)  # fmt: skip


def _row(kind: Kind, text: str, success: bool, tally: _Tally) -> dict[str, object]:
    assert tally.best is not None  # every tally holds an occurrence
    means = np.array([np.mean(values) for values in tally.by_problem.values()])
    test = mean_test(means)
    _, key, sample, token = tally.best
    return {
        "kind": kind,
        "text": text,
        "success": success,
        "n": tally.n,
        "n_problems": test.n,
        "share": float((means > 0).mean()),
        "z": test.mean,
        "low": test.low,
        "high": test.high,
        "p": test.p_value,
        **key._asdict(),
        "sample": sample,
        "token": token,
    }


def standardised(novelty: np.ndarray) -> np.ndarray:
    """z [N] over the tokens of one outcome class, NaN left out; 0 where all are equal."""
    known = novelty[np.isfinite(novelty)]
    spread = float(known.std()) if len(known) else 0.0
    if spread <= 1e-12 * max(1.0, float(np.abs(known).max()) if len(known) else 0.0):
        return np.where(np.isfinite(novelty), 0.0, np.nan)
    return (novelty - known.mean()) / spread


def occurrences(
    rollout: Rollout, z: np.ndarray, special_ids: Collection[int] = ()
) -> Iterator[Occurrence]:
    """The words, steps and positions of a rollout with their mean z.

    Markers (`special_ids`) belong to none; text that was not cut into cells has positions only.
    """
    shown = np.array([i not in special_ids for i in rollout.completion_ids], bool)
    known = np.isfinite(z) & shown
    if not known.any():
        return
    places = np.arange(len(z)) * _POSITIONS // max(len(z), 1)
    for place, first, mean in _means(places, z, known):
        low, high = place * 100 // _POSITIONS, (place + 1) * 100 // _POSITIONS
        yield Occurrence("position", f"{low}–{high} %", first, mean)
    if rollout.cell_start is None:
        return
    text, starts = rollout.completion_text, rollout.cell_start
    if rollout.reasoning_step is not None:
        steps = np.asarray(rollout.reasoning_step)
        for number, first, mean in _means(steps, z, known):
            name = _step_name(text, starts, (steps == number) & shown)
            if name:
                yield Occurrence("step", name, first, mean)
    words = [(m.start(), m.end()) for m in _WORD.finditer(text)]
    for number, first, mean in _means(_word_of(text, starts, words), z, known):
        if number >= 0:
            word = text[slice(*words[number])]
            yield Occurrence("word", "#" if word[0].isdigit() else word.lower(), first, mean)


def _means(
    numbers: np.ndarray, z: np.ndarray, known: np.ndarray
) -> Iterator[tuple[int, int, float]]:
    """(number, its first known token, mean z) of each run of tokens with one number."""
    tokens = np.flatnonzero(known)
    found, first, inverse = np.unique(numbers[tokens], return_index=True, return_inverse=True)
    means = np.bincount(inverse, z[tokens]) / np.bincount(inverse)
    for number, at, mean in zip(found.tolist(), first.tolist(), means.tolist(), strict=True):
        yield int(number), int(tokens[at]), float(mean)


def _word_of(text: str, starts: Sequence[int], words: Sequence[tuple[int, int]]) -> np.ndarray:
    """Per token: the word in which the first letter of its cell lies, −1 for none."""
    begins = [start for start, _ in words]
    later = sorted(set(starts))
    found: list[int] = []
    for start in starts:
        after = bisect_right(later, start)
        end = later[after] if after < len(later) else len(text)
        start = end - len(text[start:end].lstrip())  # the end, where the cell is all space
        word = bisect_right(begins, start) - 1
        found.append(word if word >= 0 and start < min(words[word][1], end) else -1)
    return np.asarray(found, int)


def _step_name(text: str, starts: Sequence[int], is_own: np.ndarray) -> str:
    own = np.flatnonzero(is_own)
    after = int(own[-1]) + 1
    later = (start for start in starts[after:] if start > starts[after - 1])
    body = text[starts[int(own[0])] : next(later, len(text))]
    name = " ".join(_NUMBER.sub("#", body).split()).lower()
    return name if len(name) <= _LONGEST_STEP else name[: _LONGEST_STEP - 1] + "…"
