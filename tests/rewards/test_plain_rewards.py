"""The rewards that need no library, called as the worker calls them."""

from __future__ import annotations

import pytest

from hara_viz.errors import FormatError
from hara_viz.rewards.registry import load_reward
from hara_viz.rewards.spec import RewardTerm
from hara_viz.rewards.verdict import RewardItem, Verdict


def judge(name: str, text: str, gold: str | None) -> Verdict:
    verdict = load_reward(RewardTerm(1.0, name)).judge(RewardItem(text, gold))
    if verdict.span is not None:
        assert text[verdict.span.start : verdict.span.end] == verdict.answer
    return verdict


@pytest.mark.parametrize(
    ("name", "text", "gold", "value", "answer"),
    [
        ("number", "6*7 is 42.", "42", 1.0, "42"),
        ("number", "It is 42, not 43", "42", 0.0, "43"),
        ("number", "#### 1,008", "1008", 1.0, "1,008"),
        ("number", r"\boxed{\frac{1}{2}} of 7", "0.5", 1.0, r"\frac{1}{2}"),
        ("number", r"\boxed{x = 5}", "5", 1.0, "5"),
        ("number", "The answer is 5 + 3 = 8.", "8", 1.0, "8"),
        ("number", "The answer is 33", "033", 1.0, "33"),
        ("number", "it rose by 50%", "50", 1.0, "50%"),
        ("number", "it rose by 50%", "0.5", 1.0, "50%"),
        ("number", "0.333333", "1/3", 0.0, "0.333333"),
        ("number", "0.1", "1/10", 1.0, "0.1"),
        ("number", "−5 degrees", "-5", 1.0, "−5"),
        ("number", "none", "5", 0.0, None),
        ("number", "<think>42</think> 41", "42", 0.0, "41"),
        ("exact", "So: Paris.", "So: Paris", 1.0, "So: Paris"),
        ("exact", r"\boxed{Paris}", "paris", 0.0, "Paris"),
        ("exact", "The answer is  New\tYork.", "New York", 1.0, "New\tYork"),
        ("exact", "cafe\u0301", "caf\u00e9", 1.0, "cafe\u0301"),
        ("exact", "", "x", 0.0, None),
        ("choice", r"\boxed{\text{(C)}}", "C", 1.0, "C"),
        ("choice", "The answer is (b).", "B", 1.0, "b"),
        ("choice", "The correct answer is **D. Paris**", "(D)", 1.0, "D"),
        ("choice", "A dog barks. (B) is wrong, so (C).", "C", 1.0, "C"),
        ("choice", "Reasons.\nC", "C", 1.0, "C"),
        ("choice", "no letter", "A", 0.0, None),
        ("choice", "The answer is a triangle", "A", 0.0, None),
        ("choice", "A man and I saw it.", "A", 0.0, None),
        ("format", r"\boxed{1}", None, 1.0, "1"),
        ("format", "the answer is 1", None, 0.0, None),
        ("format", r"<think>\boxed{1}</think> 1", None, 0.0, None),
        (r"regex:Answer: (\w+)", "Answer: no\nAnswer: yes ", "yes", 1.0, "yes"),
        (r"regex:Answer: (\w+)", "Answer: no", "yes", 0.0, "no"),
        (r"regex:Answer: (\w+)", "yes", "yes", 0.0, None),
        (
            r"regex:(?s)^<think>.*</think>",
            "<think>a\nb</think> c",
            None,
            1.0,
            "<think>a\nb</think>",
        ),
        (r"regex:^<think>", "no", None, 0.0, None),
    ],
)
def test_value_and_answer(
    name: str, text: str, gold: str | None, value: float, answer: str | None
) -> None:
    verdict = judge(name, text, gold)
    assert (verdict.value, verdict.answer) == (value, answer)
    assert verdict.reason


@pytest.mark.parametrize("name", ["number", "exact", "choice", "regex:(x)"])
def test_without_a_reference_nothing_is_scored(name: str) -> None:
    verdict = judge(name, "x 42 (C)", None)
    assert verdict.value is None
    assert "no gold answer" in verdict.reason


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("number", "words", "no answer"),
        ("exact", "", "no answer"),
        ("regex:(x)", "words", "no answer"),
        ("number", "<think>so 42", "nothing stands outside the thinking"),
        ("number", "42", "mismatch: the last number of the text"),
        ("number", r"\boxed{7}", "match: boxed"),
        ("number", "7%", "match: the last number of the text, the percent sign was ignored"),
    ],
)
def test_reasons(name: str, text: str, reason: str) -> None:
    assert reason in judge(name, text, "7").reason


@pytest.mark.parametrize(
    ("name", "gold", "understood"),
    [
        ("number", "1,000", "1000"),
        ("number", "50%", "1/2"),
        ("number", "#### 42", "42"),
        ("number", "5 apples", "5"),
        ("choice", r"\text{(b)}", "B"),
        ("exact", " New  York. ", "New York."),
    ],
)
def test_understood_references(name: str, gold: str, understood: str) -> None:
    assert load_reward(RewardTerm(1.0, name)).read_gold(gold) == understood


@pytest.mark.parametrize(
    ("name", "gold", "says"),
    [
        ("number", "Paris", "0 numbers"),
        ("number", "3 or 5", "2 numbers"),
        ("choice", "42", "no letter"),
        ("exact", " ", "empty"),
    ],
)
def test_unreadable_references(name: str, gold: str, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        load_reward(RewardTerm(1.0, name)).read_gold(gold)


def test_unreadable_reference_is_unscored_not_wrong() -> None:
    verdict = judge("number", "42", "Paris")
    assert verdict.value is None
    assert "holds 0 numbers" in verdict.reason
