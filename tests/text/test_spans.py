"""What a verifier sees, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.errors import InvalidInputError
from hara_viz.text.cells import Cell
from hara_viz.text.spans import Span, without_special


def cells_from(parts: list[tuple[str, bool]]) -> tuple[str, tuple[Cell, ...]]:
    cells: list[Cell] = []
    text = ""
    for i, (piece, special) in enumerate(parts):
        cells.append(Cell(len(text), len(text) + len(piece), i, i + 1, special))
        text += piece
    return text, tuple(cells)


def test_markers_are_cut_and_spans_found_again() -> None:
    text, cells = cells_from([("<s>", True), ("x = ", False), ("42", False), ("<e>", True)])
    cut = without_special(text, cells)
    assert cut.text == "x = 42"
    assert cut.to_original(4, 6) == Span(7, 9)
    assert cut.kept == (Span(3, 9),)


def test_a_span_across_a_marker_covers_it() -> None:
    text, cells = cells_from([("ab", False), ("<m>", True), ("cd", False)])
    cut = without_special(text, cells)
    assert cut.to_original(1, 3) == Span(1, 6)
    assert cut.to_original(0, 2) == Span(0, 2)  # the end does not reach over the marker
    assert cut.to_original(2, 2) == Span(5, 5)


def test_nothing_but_markers() -> None:
    text, cells = cells_from([("<e>", True)])
    cut = without_special(text, cells)
    assert cut.text == ""
    assert cut.to_original(0, 0) == Span(0, 0)


def test_a_span_outside_is_refused() -> None:
    cut = without_special("ab", cells_from([("ab", False)])[1])
    for start, end in [(-1, 1), (0, 3), (2, 1)]:
        with pytest.raises(InvalidInputError, match="does not lie"):
            cut.to_original(start, end)


@given(
    parts=st.lists(st.tuples(st.text("ab😀", min_size=1, max_size=4), st.booleans()), max_size=8),
    data=st.data(),
)
def test_the_way_back_gives_the_same_text(
    parts: list[tuple[str, bool]], data: st.DataObject
) -> None:
    text, cells = cells_from(parts)
    cut = without_special(text, cells)
    assert cut.text == "".join(piece for piece, special in parts if not special)
    start = data.draw(st.integers(0, len(cut.text)))
    end = data.draw(st.integers(start, len(cut.text)))
    back = cut.to_original(start, end)
    inside = [c for c in cells if not c.special and c.start < back.end and c.end > back.start]
    shown = "".join(text[max(c.start, back.start) : min(c.end, back.end)] for c in inside)
    assert shown == cut.text[start:end]
