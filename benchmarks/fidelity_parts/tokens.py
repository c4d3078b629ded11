"""What kind of token is it? Coarse classes that grammar, arithmetic and prose share."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from hara_viz.types import Rollout

KINDS = (
    "end of text",
    "line break",
    "punctuation",
    "operator",
    "box",
    "number",
    "right result",
    "wrong result",
    "function word",
    "content word",
    "other",
)
_FUNCTION_WORDS = frozenset(
    """a an the of to in on at by for from with and or but so if then than that this these those it
    is are was were be been has have had do does did will would can could should may we i you he
    she they there as not no all both each let us our their his her its how many what which who
    per out up""".split()  # noqa: SIM905
)
_EQUATION = re.compile(r"(\d+)\s*([*+\-/])\s*(\d+)\s*=\s*(\d+)")
_OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else None,
}


def kinds(rollout: Rollout) -> list[str]:
    """The kind of each completion token."""
    texts = _texts(rollout)
    last = len(texts) - 1
    found = [_kind(text, place == last) for place, text in enumerate(texts)]
    starts = [*(rollout.cell_start or ()), len(rollout.completion_text)]
    for begin, end, holds in results(rollout.completion_text):
        for place, cell in enumerate(itertools.pairwise(starts)):
            # A token may begin with the space before it.
            if cell[0] < end and begin < cell[1] and found[place] == "number":
                found[place] = "right result" if holds else "wrong result"
    return found


def results(text: str) -> list[tuple[int, int, bool]]:
    """Where c stands in each equation "a ∘ b = c", and whether it holds."""
    return [
        (*match.span(4), _OPERATIONS[match[2]](int(match[1]), int(match[3])) == int(match[4]))
        for match in _EQUATION.finditer(text)
    ]


def _texts(rollout: Rollout) -> Sequence[str]:
    starts = rollout.cell_start or ()
    ends = [*starts[1:], len(rollout.completion_text)]
    return [rollout.completion_text[a:b] for a, b in zip(starts, ends, strict=True)]


def _kind(text: str, is_last: bool) -> str:
    bare = text.strip()
    if is_last and bare.startswith("<|"):
        return "end of text"
    if not bare:
        return "line break" if "\n" in text else "other"
    if "boxed" in bare or bare in {"{", "}", "\\", "}.", "$"}:
        return "box"
    if bare in {"+", "-", "*", "/", "=", "×", "÷", "^"}:
        return "operator"
    if re.fullmatch(r"[\d.,]*\d[\d.,]*%?", bare):
        return "number"
    if not any(c.isalnum() for c in bare):
        return "punctuation"
    return "function word" if bare.lower() in _FUNCTION_WORDS else "content word"
