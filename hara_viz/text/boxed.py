r"""Boxed answers: the contents of `\boxed{…}` and `\fbox{…}`, braces balanced."""

from __future__ import annotations

import re

from hara_viz.text.spans import Span

# A box's opening, an escaped character (its brace does not count), or a bare brace.
_MARKS = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)


def boxed_spans(text: str) -> tuple[Span, ...]:
    """Spans of the contents of closed boxes, without their braces, by where they start.

    A box that is never closed (a truncated completion) is none. One pass, so a text of many
    unclosed boxes costs no more than any other.
    """
    open_braces: list[int | None] = []  # where a box's content starts; None for a plain brace
    spans: list[Span] = []
    for mark in _MARKS.finditer(text):
        token = mark.group()
        if token == "{":
            open_braces.append(None)
        elif token.endswith("{") and len(token) > 2:
            open_braces.append(mark.end())
        elif token == "}" and open_braces:
            start = open_braces.pop()
            if start is not None:
                spans.append(Span(start, mark.start()))
    return tuple(sorted(spans))
