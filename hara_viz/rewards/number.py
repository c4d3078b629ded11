r"""Reward `number`: the answer's number equals the reference number, exactly.

The number is sought in the answer that the text marks (`final_answer.py`), behind its last equals
sign if it has one; else it is the last number of the text.
"""

from __future__ import annotations

from hara_viz.errors import FormatError
from hara_viz.rewards.final_answer import find_answer
from hara_viz.rewards.numerals import Numeral, numerals, read_numeral
from hara_viz.rewards.verdict import NO_GOLD, RewardItem, Verdict
from hara_viz.text.spans import Span


def judge(item: RewardItem) -> Verdict:
    """1 if the numbers are equal as fractions, 0 if they differ or there is none."""
    if item.gold is None:
        return NO_GOLD
    try:
        gold = _gold_numeral(item.gold)
    except FormatError as error:
        return Verdict(value=None, reason=f"unscored: {error}")
    found, where = _find(item.text)
    if found is None:
        return Verdict(value=0.0, reason="no answer: the text holds no number")
    answer = item.text[found.span.start : found.span.end]
    equal, why = compare_numerals(gold, found)
    reason = f"{'match' if equal else 'mismatch'}: {where}{why}"
    return Verdict(value=float(equal), answer=answer, span=found.span, reason=reason)


def read_gold(gold: str) -> str:
    """The reference number as an integer or fraction."""
    return str(_gold_numeral(gold).value)


def compare_numerals(gold: Numeral, answer: Numeral) -> tuple[bool, str]:
    """Equality, and a remark where the percent sign needed a reading."""
    if gold.value == answer.value:
        return True, ""
    # Data sets often drop the sign: the reference of "how many percent?" is 50, not 0.5.
    if gold.percent != answer.percent and gold.face == answer.face:
        return True, ", the percent sign was ignored"
    return False, ""


def _gold_numeral(gold: str) -> Numeral:
    whole = read_numeral(gold)
    if whole is not None:
        return whole
    found = find_answer(gold)
    inside = list(numerals(gold if found is None else found.text))
    if len(inside) != 1:
        raise FormatError(
            f"gold answer {gold[:80]!r} holds {len(inside)} numbers; the reward 'number' "
            "needs one: use the reward 'math' or 'exact' for this problem set"
        )
    return inside[0]


def _find(text: str) -> tuple[Numeral | None, str]:
    marked = find_answer(text)
    if marked is not None:
        after_equals = marked.text.rfind("=") + 1
        inside = next(numerals(marked.text[after_equals:]), None)
        if inside is not None:
            offset = marked.span.start + after_equals
            start, end = inside.span
            return inside._replace(span=Span(start + offset, end + offset)), marked.form.value
    all_numbers = list(numerals(text))
    return (all_numbers[-1] if all_numbers else None), "the last number of the text"
