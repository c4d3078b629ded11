"""The spans of tokens where a signal is high: contiguous, non-overlapping, ranked.

A span's *excess* is the sum over its tokens of (value − mean), with the mean over all tokens given.
Unlike a mean it does not favour one-token spans, unlike a sum it does not favour long ordinary
ones; a signal that is the same everywhere has no span at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hara_viz.errors import InvalidInputError, ShapeError

_LONGEST_WORD = 16  # code points; a longer run without a blank is cut rather than left out


class TokenSpan(NamedTuple):
    """Tokens start … stop−1 of one row (rollout), and how far the signal rises there."""

    row: int
    start: int
    stop: int
    excess: float
    mean: float


class SpanText(NamedTuple):
    """A span as running text with what stands around it; "…" where that is cut."""

    before: str
    inside: str
    after: str


def top_spans(
    values: np.ndarray,
    offsets: Sequence[int],
    *,
    top: int = 5,
    window: int = 8,
    segments: np.ndarray | None = None,
) -> tuple[TokenSpan, ...]:
    """The spans with the largest excess, best first, no two of a row overlapping.

    Args:
        values: signal of packed tokens [N], finite.
        offsets: [B+1]; row b owns values[offsets[b] : offsets[b+1]].
        top: at most this many spans.
        window: length in tokens of the candidate spans; a shorter row is one span.
        segments: [N] integers; given, the candidates are the runs of equal numbers within a row
            (reasoning steps) instead of windows.

    Returns:
        Spans of positive excess. Equal excess: the earlier row and token comes first.

    Raises:
        ShapeError: `offsets` or `segments` do not fit `values`.
        InvalidInputError: `window` is below 1.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(offsets) < 1 or offsets[-1] != len(values):
        raise ShapeError(f"values {values.shape} do not fit offsets that end at {offsets[-1:]}")
    if segments is not None and len(segments) != len(values):
        raise ShapeError(f"got {len(segments)} segment numbers for {len(values)} tokens")
    if window < 1:
        raise InvalidInputError(f"window is {window} tokens; it must be at least 1")
    if not len(values):
        return ()
    rows, starts, stops, excess = _candidates(values, offsets, window, segments)
    # Sums of rounding errors are not novelty.
    floor = 1e-9 * max(1.0, float(np.abs(values).max()))
    order = np.lexsort((starts, rows, -excess))
    ranked = order[excess[order] > floor]
    spans = (
        TokenSpan(
            int(rows[i]),
            int(starts[i]),
            int(stops[i]),
            float(excess[i]),
            float(values[offsets[int(rows[i])] :][starts[i] : stops[i]].mean()),
        )
        for i in ranked
    )
    return tuple(_without_overlap(spans, top))


def span_text(
    text: str, cell_start: Sequence[int], start: int, stop: int, *, context: int = 40
) -> SpanText:
    """The text of tokens start … stop−1, with up to `context` code points on either side.

    A word that the limit would cut is left out if others remain; a long run without a blank, as of
    markup or an address, is cut all the same. "…" says that there is more.

    Args:
        text: the completion's text.
        cell_start: per token, the first code point of its display cell; never decreasing.
        start: first token of the span.
        stop: the token after its last.
        context: code points shown before and after.
    """
    if start >= stop:
        raise InvalidInputError(f"a span needs tokens; got {start} to {stop}")
    first = cell_start[start]
    # Tokens that share a character share a cell: the span ends where the next cell begins.
    later = (cell for cell in cell_start[stop:] if cell > cell_start[stop - 1])
    last = next(later, len(text))
    # So far does it take to tell whether a word that goes on is a long one.
    far = context + _LONGEST_WORD + 1
    after = _whole_words(text[last : last + far], context)
    before = _whole_words(text[max(0, first - far) : first][::-1], context)[::-1]
    return SpanText(before, text[first:last], after)


def _whole_words(text: str, most: int) -> str:
    """The first code points of a text, without a word that was cut; long ones stay."""
    if len(text) <= most:
        return text
    words = [(word.start(), word.end()) for word in re.finditer(r"\S+", text)]
    start = next((start for start, end in words if start < most < end <= start + _LONGEST_WORD), 0)
    return text[: start or most] + "…"


def _candidates(
    values: np.ndarray, offsets: Sequence[int], window: int, segments: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Row, first token, token after the last one, and excess of every candidate."""
    above = values - values.mean()
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    for row, (low, high) in enumerate(pairwise(offsets)):
        n_tokens = high - low
        if n_tokens <= 0:
            continue
        own = above[low:high]
        if segments is None:
            # Equal windows must have equal sums, so that ties are broken by their place: no
            # differences of running sums.
            size = min(window, n_tokens)
            starts = np.arange(n_tokens - size + 1)
            stops = starts + size
            excess = sliding_window_view(own, size).sum(axis=1)
        else:
            cuts = np.flatnonzero(np.diff(np.asarray(segments[low:high]))) + 1
            starts, stops = np.concatenate([[0], cuts]), np.concatenate([cuts, [n_tokens]])
            excess = np.add.reduceat(own, starts)
        parts.append((np.full(len(starts), row), starts, stops, excess))
    rows, starts, stops, excess = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return rows, starts, stops, excess


def _without_overlap(spans: Iterator[TokenSpan], top: int) -> Iterator[TokenSpan]:
    taken: list[TokenSpan] = []
    for span in spans:
        if len(taken) >= top:
            return
        if all(s.row != span.row or s.stop <= span.start or span.stop <= s.start for s in taken):
            taken.append(span)
            yield span
