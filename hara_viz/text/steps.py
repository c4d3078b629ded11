r"""Reasoning steps: a completion cut at lines, sentence ends, LaTeX displays and code fences.

Never inside a number, an abbreviation, a formula, inline code, a display or a fence. Steps cover
the text without gap or overlap; the space between two sentences belongs to the later one (so does
a tokenizer's " The"), line ends belong to the earlier one. A stretch without a letter or digit (a
rule, a lone bracket) is no step of its own.

The scan is one pass with bounded look-ahead, so hostile text costs linear time as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from hara_viz.text.spans import Span
from hara_viz.text.think import think_regions

MAX_INLINE = 600
"""A formula or code span within a line is at most this long; a longer one is a stray mark."""

# "no." and "in." end sentences more often than they abbreviate.
ABBREVIATIONS = frozenset({
    "a.k.a", "al", "approx", "apr", "art", "aug", "ave", "ca", "cf", "ch", "col", "cor", "corr",
    "dec", "def", "dept", "dr", "e.g", "eq", "eqn", "eqs", "est", "etc", "ex", "feb", "fig",
    "figs", "ft", "i.e", "inc", "jan", "jr", "lem", "ltd", "max", "min", "misc", "mr", "mrs",
    "ms", "nos", "nov", "oct", "p.s", "pp", "prof", "prop", "pt", "ref", "refs", "resp", "rev",
    "sec", "sect", "sep", "sept", "seq", "sr", "st", "thm", "viz", "vol", "vs", "w.l.o.g",
    "w.r.t", "wlog", "wrt",
})  # fmt: skip
_FENCE = re.compile(r"^[ \t]{0,3}(```+|~~~+)", re.MULTILINE)
_DISPLAY_OPEN = re.compile(r"(?<!\\)(?:\\\[|\$\$|\\begin\{([a-zA-Z]+\*?)\})")
# Tables and lists are read line by line; these environments are one formula.
_MATH_ENVIRONMENTS = frozenset({
    "equation", "align", "gather", "multline", "eqnarray", "displaymath", "math", "alignat",
    "flalign", "split", "cases", "aligned", "gathered", "matrix", "pmatrix", "bmatrix", "vmatrix",
    "array",
})  # fmt: skip
_BOUNDED = f"{{1,{MAX_INLINE}}}?"
_INLINE = re.compile(
    rf"\\\((?:(?!\\\)|\n\n).){_BOUNDED}\\\)"  # \( … \)
    rf"|(?<![\\$])\$(?=[^\s$])(?:\\.|[^$\\\n]){_BOUNDED}(?<=\S)\$(?!\d)"  # $ … $, not prices
    rf"|(`+)(?!`)(?:(?!\n\n).){_BOUNDED}(?<!`)\1(?!`)",
    re.DOTALL,
)
_END = re.compile(r"[.!?…]+[)\]}\"'”’»*_]*(?=\s|$)|[。！？]+[」』”’）*_]*")
_LINE_END = re.compile(r"[^\S\n]*\n\s*")
_LAST_WORD = re.compile(r"[^\W_](?:[\w'’]|\.(?=\w))*$")
# What stands before the full stop of "1." or "**Step 2.": a label, not a sentence.
_LABEL = re.compile(
    r"\W*(?:\d{1,3}[.)]\W+)?(?:(?:step|case|part|example|problem|question|option|method|lemma|theorem|claim|rule"
    r"|phase|stage|round|exercise|approach) )?(?:\d{1,3}|[a-z]|[ivx]{1,4})",
    re.IGNORECASE,
)
# A full stop after a block, and its line end, belong to the block.
_AFTER_BLOCK = re.compile(r"[.,;:]?(?:[^\S\n]*\n\s*)?")
# Marks of a chat or of thinking hold letters, but nobody reasons in them.
_MARK = re.compile(r"<[^<>\s]{1,40}>|\[/?THINK\]|◁/?think▷")
_DOTTED = re.compile(r"(?:[a-z]\.)+[a-z]")
_OPERATOR = re.compile(r"\s+(?:[=+×÷≤≥≠≡<>^/·]|[-*−](?=\s))")


def split_steps(text: str) -> tuple[Span, ...]:
    """The steps of `text`, in order; together they are the whole text."""
    cuts = sorted({0, len(text), *_cuts(text)})
    steps: list[Span] = []
    complete = True  # has the last step a word yet?
    for span in (Span(a, b) for a, b in pairwise(cuts)):
        worded = _has_word(text, span)
        if steps and not (worded and complete):
            steps[-1] = Span(steps[-1].start, span.end)
            complete = complete or worded
        else:
            steps.append(span)
            complete = worded
    return tuple(steps)


def reasoning_steps(text: str, cell_start: Sequence[int]) -> tuple[int, ...]:
    r"""Per token: its step's number, from 0 and without gaps within the completion, [T].

    A cell belongs to the step of its first character that is no space: a token "\nSo" to what
    follows, ".\n" to what it ends. A step that no cell belongs to has no number.
    """
    steps = split_steps(text)
    numbers: list[int] = []
    index, number, counted = 0, -1, -1
    for start in _first_letters(text, cell_start):
        while index + 1 < len(steps) and start >= steps[index + 1].start:
            index += 1
        if index != counted:
            number, counted = number + 1, index
        numbers.append(number)
    return tuple(numbers)


def _first_letters(text: str, cell_start: Sequence[int]) -> list[int]:
    """Per token: where the space at the head of its cell ends; its start if it is all space."""
    starts = sorted(set(cell_start))
    places: dict[int, int] = {}
    for start, end in pairwise([*starts, len(text)]):
        cell = text[start:end]
        spaces = len(cell) - len(cell.lstrip())
        places[start] = start if spaces == len(cell) else start + spaces
    return [places[start] for start in cell_start]


def _has_word(text: str, span: Span) -> bool:
    return any(char.isalnum() for char in _MARK.sub("", text[span.start : span.end]))


def _cuts(text: str) -> Iterator[int]:
    """Where a step may begin or end: around blocks, and inside the prose between them."""
    for region in think_regions(text):
        yield from region
    position = 0
    for block in _blocks(text):
        yield from _prose_cuts(text, position, block.start)
        yield block.start
        after = _AFTER_BLOCK.match(text, block.end)
        position = block.end if after is None else after.end()
        yield position
    yield from _prose_cuts(text, position, len(text))


def _blocks(text: str) -> Iterator[Span]:
    """Code fences and LaTeX displays; one that never closes is handled as its kind demands."""
    position = 0
    while True:
        fence = _FENCE.search(text, position)
        limit = len(text) if fence is None else fence.start()
        yield from _displays(text, position, limit)
        if fence is None:
            return
        closing = re.compile(
            rf"^[ \t]{{0,3}}{re.escape(fence.group(1))}[^\S\n]*$", re.MULTILINE
        ).search(text, fence.end())
        position = len(text) if closing is None else closing.end()
        yield Span(fence.start(), position)


def _displays(text: str, position: int, limit: int) -> Iterator[Span]:
    missing: set[str] = set()  # closers looked for in vain: do not scan again
    while (opening := _DISPLAY_OPEN.search(text, position, limit)) is not None:
        environment = opening.group(1)
        position = opening.end()
        if environment is not None and environment.rstrip("*") not in _MATH_ENVIRONMENTS:
            continue
        closer = {"\\[": "\\]", "$$": "$$"}.get(opening.group(), f"\\end{{{environment}}}")
        end = -1 if closer in missing else text.find(closer, position, limit)
        if end >= 0:
            position = end + len(closer)
            yield Span(opening.start(), position)
        else:
            missing.add(closer)
            # Truncated inside a display: it runs to the end of its paragraph.
            paragraph = text.find("\n\n", position, limit)
            position = limit if paragraph < 0 else paragraph
            yield Span(opening.start(), position)


def _prose_cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Line ends and sentence ends of `text[start:end]`, formulas and code spans skipped."""
    protected = [match.span() for match in _INLINE.finditer(text, start, end)]
    step = start
    for a, b in _gaps(protected, start, end):
        for match in re.finditer(rf"{_LINE_END.pattern}|{_END.pattern}", text[a:b]):
            begin, cut = a + match.start(), a + match.end()
            if "\n" in match.group():
                yield cut
            elif not _ends_sentence(text, step, begin, cut):
                continue
            elif text[cut : cut + 1] != "\n":  # else the line end makes this cut
                yield cut
            step = cut


def _gaps(protected: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    for a, b in protected:
        yield start, a
        start = b
    yield start, end


def _ends_sentence(text: str, step: int, begin: int, cut: int) -> bool:
    """Is the punctuation `text[begin:cut]` the end of the sentence that began at `step`?"""
    mark = text[begin:cut]
    if mark[0] in "。！？":
        return True
    if _OPERATOR.match(text, cut):  # "5! = 120", "… + n"
        return False
    following = text[cut : cut + 8].lstrip()[:1]
    if mark.startswith(("..", "…")):
        return not following.islower()
    if mark[0] == "!" and re.search(
        r"(?:^|\W)(?:\d+|[a-zA-Z])$|\)$", text[max(begin - 12, 0) : begin]
    ):
        return not following.islower()  # a factorial
    if mark[0] != ".":
        return True
    before = text[max(step, begin - 40) : begin]
    if _LABEL.fullmatch(before.lstrip()) and mark[-1] != ")":
        return False
    word = _LAST_WORD.search(before)
    if word is None:
        return True
    name = word.group().lower()
    if _DOTTED.fullmatch(name):
        return name in {"a.m", "p.m"} and not following.islower()
    return name not in ABBREVIATIONS
