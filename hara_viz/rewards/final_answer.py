r"""Where a completion states its answer: in a box, in `<answer>` tags, after `####` or "answer is".

The forms are tried in that order, a number set in bold comes last of all; of one form the last
occurrence counts, since models revise themselves. Thinking (`<think>…</think>`) is no place for an
answer and is cut before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from hara_viz.rewards.numerals import read_numeral
from hara_viz.text.boxed import boxed_spans
from hara_viz.text.spans import CutText, Span
from hara_viz.text.think import think_regions


class AnswerForm(StrEnum):
    """How an answer is marked as the answer."""

    BOXED = "boxed"
    TAGGED = "in answer tags"
    HASHES = "after ####"
    CUE = 'after "answer is"'
    BOLD = "in bold"
    LINE = "the last line"


class FoundAnswer(NamedTuple):
    """An answer that the text itself marks as such."""

    text: str
    span: Span
    form: AnswerForm


_HASHES = re.compile(r"####[ \t]*([^\n]*)")
_CUE = re.compile(
    r"\banswer\b[^\n.:=?!]{0,60}?(?:\bis\b|[:=])[*_`]{0,3}[ \t]*[:=]?\s{0,4}",
    re.IGNORECASE,
)
_BOLD = re.compile(r"\*\*([^*\n]{1,60})\*\*")
# A full stop ends the answer, a decimal point does not.
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$)|\n")
_WRAPPERS = (
    ("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"), ("*", "*"), ("`", "`"),
    ('"', '"'),
)  # fmt: skip


def without_thinking(text: str) -> CutText:
    """What is judged: the text outside its thinking, with the way back."""
    kept: list[Span] = []
    position = 0
    for region in think_regions(text):
        if region.start > position:
            kept.append(Span(position, region.start))
        position = region.end
    if position < len(text):
        kept.append(Span(position, len(text)))
    return CutText("".join(text[span.start : span.end] for span in kept), tuple(kept))


def find_answer(text: str) -> FoundAnswer | None:
    """The last answer that the text marks as such; None if it marks none."""
    found = (_trimmed(text, span, form) for span, form in _candidates(text))
    return next((answer for answer in found if answer is not None), None)


def _candidates(text: str) -> Iterator[tuple[Span, AnswerForm]]:
    """Best first, and found only as far as they are asked for."""
    for span in reversed(boxed_spans(text)):
        yield span, AnswerForm.BOXED
    for span in _tagged(text):
        yield span, AnswerForm.TAGGED
    for span in _last_first(_HASHES, text):
        yield span, AnswerForm.HASHES
    for span in _last_first(_CUE, text):
        yield _sentence(text, span.end), AnswerForm.CUE
    for span in _last_first(_BOLD, text):
        if read_numeral(text[span.start : span.end]) is not None:
            yield span, AnswerForm.BOLD


def last_line(text: str) -> FoundAnswer | None:
    """The last line that is not blank, for rewards that take whatever stands at the end."""
    end = len(text.rstrip())
    if end == 0:
        return None
    start = text.rfind("\n", 0, end) + 1
    return _trimmed(text, Span(start, end), AnswerForm.LINE)


def _last_first(pattern: re.Pattern[str], text: str) -> list[Span]:
    """Of the pattern's group, if it has one."""
    return [Span(*match.span(pattern.groups)) for match in pattern.finditer(text)][::-1]


def _tagged(text: str) -> list[Span]:
    end = text.rfind("</answer>")
    start = text.rfind("<answer>", 0, max(end, 0))
    return [Span(start + len("<answer>"), end)] if 0 <= start < end else []


def _sentence(text: str, start: int) -> Span:
    stop = _SENTENCE_END.search(text, start)
    return Span(start, len(text) if stop is None else stop.start())


def _trimmed(text: str, span: Span, form: AnswerForm) -> FoundAnswer | None:
    """Without blanks, a closing full stop and the marks of mathematics or emphasis around it."""
    start, end = span
    while True:
        while start < end and text[start].isspace():
            start += 1
        while start < end and (text[end - 1].isspace() or text[end - 1] in ".,;"):
            end -= 1
        for opening, closing in _WRAPPERS:
            inside = start + len(opening) <= end - len(closing)
            if inside and text.startswith(opening, start) and text.endswith(closing, start, end):
                start, end = start + len(opening), end - len(closing)
                break
        else:
            break
    return FoundAnswer(text[start:end], Span(start, end), form) if start < end else None
