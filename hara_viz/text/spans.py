"""Spans in code points, and the text a verifier sees with the way back to the full text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hara_viz.errors import InvalidInputError
from hara_viz.text.cells import Cell


class Span(NamedTuple):
    """Code points start … end of a text, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CutText:
    """A completion without its markers, as a verifier reads it."""

    text: str
    kept: tuple[Span, ...]
    """The stretches of the original text that were kept, in order; they join to `text`."""

    def to_original(self, start: int, end: int) -> Span:
        """The span of the original text that covers `text[start:end]`.

        Markers in the middle of the span are covered too. An empty span stays empty.

        Raises:
            InvalidInputError: the span does not lie in the text.
        """
        if not 0 <= start <= end <= len(self.text):
            raise InvalidInputError(
                f"span {start}…{end} does not lie in a text of {len(self.text)} characters"
            )
        first = self._original(start)
        return Span(first, first if end == start else self._original(end - 1) + 1)

    def _original(self, position: int) -> int:
        if not self.kept:
            return 0
        offsets: list[int] = []  # where each kept stretch begins in the cut text
        length = 0
        for span in self.kept:
            offsets.append(length)
            length += span.end - span.start
        index = max(bisect_right(offsets, position) - 1, 0)
        return self.kept[index].start + position - offsets[index]


def without_special(text: str, cells: Sequence[Cell]) -> CutText:
    """Cut the special cells out of a completion: what a verifier judges."""
    kept: list[Span] = []
    for cell in cells:
        if cell.special or cell.end == cell.start:
            continue
        if kept and kept[-1].end == cell.start:
            kept[-1] = Span(kept[-1].start, cell.end)
        else:
            kept.append(Span(cell.start, cell.end))
    return CutText("".join(text[span.start : span.end] for span in kept), tuple(kept))
