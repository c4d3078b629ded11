r"""Reward `format`: the completion states an answer in a closed `\boxed{…}`, in `<answer>` tags or
after `####`.

It asks nothing of the answer's value, so no reference is needed. Often added with a small weight:
`math + 0.1*format`.
"""

from __future__ import annotations

from hara_viz.rewards.final_answer import AnswerForm, find_answer
from hara_viz.rewards.verdict import RewardItem, Verdict

FORMS = {AnswerForm.BOXED, AnswerForm.TAGGED, AnswerForm.HASHES}


def judge(item: RewardItem) -> Verdict:
    """1 if the answer is marked, else 0."""
    found = find_answer(item.text)
    if found is None or found.form not in FORMS:
        return Verdict(value=0.0, reason="no boxed or tagged answer and no #### line")
    return Verdict(value=1.0, answer=found.text, span=found.span, reason=found.form.value)


def read_gold(gold: str) -> str:
    """The reference is not looked at."""
    return gold
