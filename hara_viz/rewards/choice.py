r"""Reward `choice`: the letter of a multiple-choice answer.

The letter is sought in the answer that the text marks (`final_answer.py`); else it is the last one
in brackets or bold, after "option", or a line of its own. A bare "A" in running text is a word.
"""

from __future__ import annotations

import re

from hara_viz.errors import FormatError
from hara_viz.rewards.final_answer import find_answer
from hara_viz.rewards.verdict import NO_GOLD, RewardItem, Verdict
from hara_viz.text.spans import Span

_DECORATION = r"(?:\\(?:text|mathrm|mathbf|textbf)\s?\{\s*|[(\[{*`\"'$]|(?:[Oo]ption|[Cc]hoice)\s)*"
# At the start of a marked answer: "C", "(c)", "\text{(C)}", "C. Paris", "option C". A small letter
# must stand alone or be closed: "a triangle" names no choice.
_LEADING = re.compile(rf"\s*{_DECORATION}([A-J](?![\w'’])|[a-j](?=[).\]}}*:]|\s*$))")
_LOOSE = re.compile(
    r"\(([A-J])\)|\*\*\(?([A-J])\)?[.)]?\*\*|^[ \t]*([A-J])[.)]?[ \t]*$|\b[Oo]ption \(?([A-J])\b",
    re.MULTILINE,
)


def judge(item: RewardItem) -> Verdict:
    """1 if the letters are equal, 0 if they differ or there is none."""
    if item.gold is None:
        return NO_GOLD
    try:
        gold = read_gold(item.gold)
    except FormatError as error:
        return Verdict(value=None, reason=f"unscored: {error}")
    span, where = _find(item.text)
    if span is None:
        return Verdict(value=0.0, reason="no answer: the text names no choice")
    answer = item.text[span.start : span.end]
    equal = answer.upper() == gold
    reason = f"{'match' if equal else 'mismatch'}: {where}"
    return Verdict(value=float(equal), answer=answer, span=span, reason=reason)


def read_gold(gold: str) -> str:
    """The reference's letter, upper case."""
    found = find_answer(gold)
    letter = _LEADING.match(gold if found is None else found.text)
    if letter is None:
        raise FormatError(
            f"gold answer {gold[:80]!r} starts with no letter A to J; the reward 'choice' "
            "is for multiple-choice sets: use the reward 'math' or 'exact'"
        )
    return letter[1].upper()


def _find(text: str) -> tuple[Span | None, str]:
    marked = find_answer(text)
    letter = None if marked is None else _LEADING.match(marked.text)
    if marked is not None and letter is not None:
        start, end = letter.span(1)
        return Span(marked.span.start + start, marked.span.start + end), marked.form.value
    loose = [Span(*match.span(match.lastindex or 0)) for match in _LOOSE.finditer(text)]
    return (loose[-1], "the last letter set apart") if loose else (None, "")
