r"""math-verify in its worker: verdicts, the answer's place, and the second opinion's doubts."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from hara_viz.errors import FormatError
from hara_viz.rewards import RewardPool
from hara_viz.types import Judgement


@pytest.fixture(scope="module")
def pool() -> Iterator[RewardPool]:
    with RewardPool("math", workers=1, timeout=20) as opened:
        yield opened


def judge(pool: RewardPool, text: str, gold: str | None) -> Judgement:
    (judged,) = pool.judge([(text, gold)])
    if judged.answer_start is not None and judged.answer_end is not None:
        assert text[judged.answer_start : judged.answer_end] == judged.extracted_answer
    return judged


@pytest.mark.parametrize(
    ("text", "gold", "reward", "answer"),
    [
        (r"so $\boxed{42}$", "42", 1.0, "42"),
        (r"\boxed{0.50}", r"\dfrac{1}{2}", 1.0, "0.50"),
        (r"so $\dfrac{9}{7}$.", r"\dfrac{9}{7}", 1.0, None),
        ("The answer is 1,000 apples.", "1000", 1.0, "1,000 apples"),
        ("#### 72", "72", 1.0, "72"),
        (r"\boxed{33}", "033", 1.0, "33"),
        (r"\boxed{0.333333}", "1/3", 1.0, "0.333333"),
        (r"\boxed{x^2+2x+1}", "(x+1)^2", 1.0, "x^2+2x+1"),
        (r"\boxed{(0,1)}", "0<x<1", 1.0, "(0,1)"),
        (r"\boxed{−3}", "-3", 1.0, "−3"),
        (r"\boxed{41}", "42", 0.0, "41"),
        (r"<think>\boxed{42}</think> \boxed{41}", "42", 0.0, "41"),
    ],
)
def test_verdicts_that_both_agree_on(
    pool: RewardPool, text: str, gold: str, reward: float, answer: str | None
) -> None:
    judged = judge(pool, text, gold)
    assert (judged.reward, dict(judged.parts)) == (reward, {"math": reward})
    if answer is not None:
        assert judged.extracted_answer == answer
        assert judged.answer_start is not None
    assert judged.reason.split(",")[0] == ("match" if reward else "mismatch")


@pytest.mark.parametrize(
    ("text", "gold", "reward", "second"),
    [
        # False matches of math-verify.
        (r"\boxed{1/2^98}", "1/2^99", 1.0, 0.0),
        (r"\boxed{0.0000001}", "0.0000004", 1.0, 0.0),
        # False mismatches: several boxes, bold numbers, words.
        (r"\boxed{1} then \boxed{2}", "2", 0.0, 1.0),
        ("**73**\n\nSince $900+5=905$", "73", 0.0, 1.0),
        ("The answer is Paris.", "Paris", 0.0, 1.0),
    ],
)
def test_the_second_opinion_doubts_but_does_not_decide(
    pool: RewardPool, text: str, gold: str, reward: float, second: float
) -> None:
    judged = judge(pool, text, gold)
    assert judged.reward == reward
    assert dict(judged.parts) == {"math": reward, "second_opinion": second}
    assert "second opinion" in judged.reason


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        (r"\boxed{1+1/\mathrm{e}}", r"1-1/\mathrm{e}"),
        ("3*x-1*y+13=0", "3x+4y+14=0"),
        (r"\boxed{3*x-1*y+13=0}", "3x+4y+14=0"),
    ],
)
def test_reported_false_matches_do_not_pass_unmarked(
    pool: RewardPool, text: str, gold: str
) -> None:
    judged = judge(pool, text, gold)
    assert judged.reward == 0.0 or judged.parts["second_opinion"] == 0.0


def test_an_unfinished_answer_that_scores_is_marked(pool: RewardPool) -> None:
    judged = judge(pool, "and then 42 and then", "42")
    assert judged.reward == 1.0
    assert "picked from running text" in judged.reason


def test_a_match_of_mere_letters_is_marked(pool: RewardPool) -> None:
    judged = judge(pool, r"\boxed{1-1/\mathrm{e}}", r"1-1/\mathrm{e}")
    assert judged.reward == 1.0
    assert "letter by letter" in judged.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no number here", "no answer"),
        ("", "no answer"),
        (r"\boxed{42", "no answer"),
        (r"<think>\boxed{42}", "no answer: nothing stands outside the thinking"),
    ],
)
def test_no_answer_is_zero_with_its_reason(pool: RewardPool, text: str, reason: str) -> None:
    judged = judge(pool, text, "42")
    assert (judged.reward, judged.reason, judged.extracted_answer) == (0.0, reason, None)


def test_no_reference_is_unscored(pool: RewardPool) -> None:
    judged = judge(pool, r"\boxed{42}", None)
    assert judged.reward is None
    assert "no gold answer" in judged.reason


def test_off_the_main_thread_it_scores_the_same(pool: RewardPool) -> None:
    judged: list[Judgement] = []
    thread = threading.Thread(target=lambda: judged.append(judge(pool, r"\boxed{42}", "42")))
    thread.start()
    thread.join(60)
    assert judged == [judge(pool, r"\boxed{42}", "42")]
    assert judged[0].reward == 1.0


def test_understood_references(pool: RewardPool) -> None:
    assert pool.parsed_gold(r"\dfrac{9}{7}") == "9/7"
    assert pool.parsed_gold(r"so \boxed{42}") == "42"
    assert pool.parsed_gold("0<x<1") == "(0 < x) & (x < 1)"
    pool.parsed_gold(r"1-1/\mathrm{e}")  # read as text, yet sound
    with pytest.raises(FormatError, match="empty"):
        pool.parsed_gold(" ")
    with pytest.raises(FormatError, match="cannot be read as mathematics"):
        pool.parsed_gold(r"\frac{")


@pytest.mark.slow
def test_answers_that_explode_never_hang() -> None:
    with RewardPool("math", workers=2, timeout=2, memory_mb=512) as pool:
        bombs = [
            r"\boxed{10^{10^{10^{10}}}}",
            r"\boxed{1000000000!}",
            r"\boxed{" + "(" * 20_000 + "}",
            "\\boxed{" * 5_000,
            r"\boxed{\int_0^1 \sin(x^{x^x}) e^{\tan x} dx}",
            "$" * 30_000,
            "1+" * 30_000 + "1",
        ]
        judged = pool.judge([(text, "42") for text in bombs])
        assert all(j.reward in {None, 0.0} and j.reason for j in judged)
        assert pool.judge([(r"\boxed{42}", "42")])[0].reward == 1.0
