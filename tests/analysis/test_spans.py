"""Novel spans: closed forms, ranking, no overlap, text with context."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.analysis.spans import span_text, top_spans
from hara_viz.errors import InvalidInputError, ShapeError


def test_a_planted_peak_is_found_with_its_exact_excess() -> None:
    values = np.array([0, 0, 0, 5, 5, 0, 0, 0, 0, 0], dtype=float)
    (span,) = top_spans(values, [0, 10], top=1, window=2)
    assert (span.row, span.start, span.stop) == (0, 3, 5)
    assert span.mean == 5.0
    assert span.excess == pytest.approx(10 - 2 * 1.0)


def test_rows_compete_and_never_mix() -> None:
    values = np.array([0, 0, 4, 4, 0, 0], dtype=float)
    spans = top_spans(values, [0, 3, 6], top=2, window=2)
    # A window may not reach over the border of the two rows, though the highest one would.
    assert [(s.row, s.start, s.stop) for s in spans] == [(0, 1, 3), (1, 0, 2)]


def test_equal_values_have_no_novel_span() -> None:
    assert top_spans(np.full(12, 0.1), [0, 7, 12], window=3) == ()


def test_segments_are_the_candidates() -> None:
    values = np.array([1, 1, 1, 9, 0, 0], dtype=float)
    steps = np.array([0, 0, 1, 1, 2, 2])
    spans = top_spans(values, [0, 6], segments=steps)
    assert [(s.start, s.stop) for s in spans] == [(2, 4)]


def test_same_segment_number_in_the_next_row_is_another_span() -> None:
    values = np.array([3, 3, 0, 0], dtype=float)
    spans = top_spans(values, [0, 1, 4], segments=np.zeros(4, dtype=int))
    assert [(s.row, s.start, s.stop) for s in spans] == [(0, 0, 1)]


def test_a_row_shorter_than_the_window_is_one_span() -> None:
    spans = top_spans(np.array([9.0, 9.0, 0, 0, 0, 0, 0, 0]), [0, 2, 8], window=6, top=1)
    assert [(s.row, s.start, s.stop) for s in spans] == [(0, 0, 2)]


def test_nothing_in_nothing_out() -> None:
    assert top_spans(np.empty(0), [0]) == ()
    assert top_spans(np.empty(0), [0, 0, 0]) == ()


@given(st.lists(st.lists(st.floats(0, 10), max_size=12), min_size=1, max_size=4), st.integers(1, 5))
def test_spans_stay_inside_rows_and_apart(rows: list[list[float]], window: int) -> None:
    values = np.array([v for row in rows for v in row])
    offsets = np.cumsum([0, *[len(row) for row in rows]]).tolist()
    spans = top_spans(values, offsets, top=10, window=window)
    seen: set[tuple[int, int]] = set()
    for span in spans:
        assert 0 <= span.start < span.stop <= len(rows[span.row])
        tokens = {(span.row, t) for t in range(span.start, span.stop)}
        assert not tokens & seen
        seen |= tokens
    assert [s.excess for s in spans] == sorted((s.excess for s in spans), reverse=True)


def test_bad_shapes_are_refused() -> None:
    with pytest.raises(ShapeError, match="do not fit"):
        top_spans(np.zeros(3), [0, 2])
    with pytest.raises(ShapeError, match="segment"):
        top_spans(np.zeros(3), [0, 3], segments=np.zeros(2))
    with pytest.raises(InvalidInputError, match="window"):
        top_spans(np.zeros(3), [0, 3], window=0)


def test_text_and_context_follow_cells() -> None:
    text = "ab🙂cd"
    cells = [0, 1, 2, 2, 3, 4]  # the emoji is two tokens
    assert span_text(text, cells, 1, 3, context=1) == ("a", "b🙂", "c…")
    assert span_text(text, cells, 3, 4, context=9) == ("ab", "🙂", "cd")
    assert span_text(text, cells, 5, 6, context=0) == ("…", "d", "")
    with pytest.raises(InvalidInputError):
        span_text(text, cells, 2, 2)


@pytest.mark.parametrize(
    ("context", "before", "after"),
    [
        (0, "…", "…"),
        (1, "… ", " …"),
        (9, "… 14 ", " on …"),
        (10, "…walked 14 ", " on Monday"),
        (99, "She walked 14 ", " on Monday"),
    ],
)
def test_a_quote_begins_and_ends_with_whole_words(context: int, before: str, after: str) -> None:
    text = "She walked 14 miles on Monday"
    found = span_text(text, range(len(text)), 14, 19, context=context)
    assert found == (before, "miles", after)


def test_long_runs_without_a_blank_are_cut_rather_than_lost() -> None:
    text = "see </div><b>bold</b> here"
    found = span_text(text, range(len(text)), 22, 26, context=16)
    assert found == ("…div><b>bold</b> ", "here", "")


@pytest.mark.parametrize("context", [6, 10, 14, 20])
def test_what_is_long_is_told_by_its_whole_length(context: int) -> None:
    for run in ("https://example.org/a/b/c", "所以我们知道这个答案是正确的而且没有空格"):
        text = f"x at {run} end"
        assert (
            span_text(text, range(len(text)), 0, 1, context=context).after
            == text[1 : 1 + context] + "…"
        )


def test_writing_without_blanks_is_quoted_to_the_limit() -> None:
    assert span_text("无空格的文字在这里", range(9), 4, 5, context=2) == ("…格的", "文", "字在…")
