"""What shuffled outcomes and other starts say about a novelty.

A span whose standardised novelty is as high under shuffled outcomes as under the real ones is not
novel *for its outcome*: it would have stood out anyway, or noise made it. p is the rank of the real
value among the shuffled ones, (1 + #{as high or higher}) / (1 + draws); with few rollouts there are
few ways to shuffle, and p cannot fall below 1 / (1 + draws).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class SpanDoubt(NamedTuple):
    """A span against its null; values are means of z over its own tokens."""

    row: int
    start: int
    """First token of the completion."""
    stop: int
    z: float
    low: float
    """5 % quantile under shuffled outcomes; NaN: nothing to compare, as p."""
    high: float
    """95 % quantile."""
    p: float
    wobble: float
    """Standard deviation over starts of the solver; NaN without any."""


def other_labellings(
    scored: Sequence[int], right: Sequence[int], draws: int, seed: int = 0
) -> tuple[tuple[int, ...], ...]:
    """Sets of rows that count as right instead of `right`, as many as they are, no two alike.

    Novelty depends on who stands with whom, so where right and wrong are equally many a set and the
    rest of the rows are one and the same.

    Args:
        scored: rows that have an outcome.
        right: those that are right.
        draws: at most this many; all there are, if there are not more.
        seed: of the choice.
    """
    rows, n_right = sorted(scored), len(right)
    halves = 2 * n_right == len(rows)  # then right and wrong may change places, and nothing changes

    def split(chosen: Sequence[int]) -> tuple[int, ...]:
        named = tuple(sorted(chosen))
        return min(named, tuple(r for r in rows if r not in named)) if halves else named

    here = split(right)
    total = math.comb(len(rows), n_right) // (2 if halves else 1) - 1
    if total <= draws:
        every = {split(chosen) for chosen in itertools.combinations(rows, n_right)}
        return tuple(sorted(every - {here}))
    rng = np.random.default_rng(seed)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < draws:
        chosen = split(rng.choice(np.asarray(rows), n_right, replace=False).tolist())
        if chosen != here:
            found[chosen] = None
    return tuple(found)


def span_doubts(
    z: np.ndarray,
    null: np.ndarray,
    starts: np.ndarray,
    spans: Sequence[tuple[int, int, int]],
    offsets: Sequence[int],
) -> tuple[SpanDoubt, ...]:
    """Each span against its null.

    Args:
        z: [N] as computed, NaN where unknown.
        null: [M, N] under shuffled outcomes.
        starts: [S, N] from other starts.
        spans: (row, start, stop), tokens of the row's completion.
        offsets: [G+1] of the rows in [N].

    Returns:
        The spans in their order; those without a known value are left out.
    """
    found: list[SpanDoubt] = []
    for row, start, stop in spans:
        place = slice(offsets[row] + start, offsets[row] + stop)
        value = _mean(z[place])
        if math.isnan(value):
            continue
        shuffled = np.array([_mean(draw[place]) for draw in null])
        shuffled = shuffled[~np.isnan(shuffled)]
        again = [value, *(_mean(draw[place]) for draw in starts)]
        low, high, p = math.nan, math.nan, math.nan
        if len(shuffled):
            low, high = (float(q) for q in np.quantile(shuffled, (0.05, 0.95)))
            p = rank_p(value, shuffled)
        wobble = float(np.nanstd(again)) if len(again) > 1 else math.nan
        found.append(SpanDoubt(row, start, stop, value, low, high, p, wobble))
    return tuple(found)


def rank_p(value: float, null: np.ndarray) -> float:
    """(1 + #{null ≥ value}) / (1 + M): how often chance alone goes as far."""
    return float(1 + (null >= value - 1e-12).sum()) / (1 + len(null))


def sentence_spans(
    steps: Sequence[Sequence[int] | None], lengths: Sequence[int], window: int = 12
) -> tuple[tuple[int, int, int], ...]:
    """Sentences of every row as (row, start, stop); windows where a row was not cut.

    Args:
        steps: per row the reasoning step of each token, or None.
        lengths: tokens per row.
        window: tokens of a span of a row that was not cut.
    """
    spans: list[tuple[int, int, int]] = []
    for row, (numbers, length) in enumerate(zip(steps, lengths, strict=True)):
        if numbers is None:
            cuts = list(range(0, length, window))
        else:
            cuts = [0, *(np.flatnonzero(np.diff(np.asarray(numbers))) + 1).tolist()]
        if length:
            spans += [(row, a, b) for a, b in itertools.pairwise([*cuts, length])]
    return tuple(spans)


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan
