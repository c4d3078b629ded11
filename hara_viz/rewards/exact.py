r"""Reward `exact`: the answer is the reference, letter by letter.

Compared without blanks around it, with runs of blanks as one, in Unicode's composed form (NFC), in
the same case. The answer is the marked one (`final_answer.py`), else the last line.
"""

from __future__ import annotations

import unicodedata

from hara_viz.errors import FormatError
from hara_viz.rewards.final_answer import find_answer, last_line
from hara_viz.rewards.verdict import NO_GOLD, RewardItem, Verdict


def judge(item: RewardItem) -> Verdict:
    """1 if the texts are equal, 0 if they differ or there is none."""
    if item.gold is None:
        return NO_GOLD
    found = find_answer(item.text) or last_line(item.text)
    if found is None:
        return Verdict(value=0.0, reason="no answer: the text is empty")
    equal = _canonical(found.text) == read_gold(item.gold)
    reason = f"{'match' if equal else 'mismatch'}: {found.form.value}"
    return Verdict(value=float(equal), answer=found.text, span=found.span, reason=reason)


def read_gold(gold: str) -> str:
    """The reference as it is compared."""
    found = find_answer(gold)
    text = _canonical(gold if found is None else found.text)
    if not text:
        raise FormatError("the gold answer is empty; give the problem an answer")
    return text


def _canonical(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
