"""Where a text states its answer, and what of it is judged."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.rewards.final_answer import AnswerForm, find_answer, last_line, without_thinking


@pytest.mark.parametrize(
    ("text", "answer", "form"),
    [
        (r"First \boxed{1}, then $\boxed{\frac{1}{2}}$.", r"\frac{1}{2}", AnswerForm.BOXED),
        (r"\boxed{ $42$ }", "42", AnswerForm.BOXED),
        (r"#### 7 and \boxed{8}", "8", AnswerForm.BOXED),
        (r"\boxed{} but #### 7", "7", AnswerForm.HASHES),
        ("#### 1,008\nDone.", "1,008", AnswerForm.HASHES),
        ("<answer>\n42\n</answer> 43", "42", AnswerForm.TAGGED),
        ("<answer>1</answer><answer>2</answer>", "2", AnswerForm.TAGGED),
        ("The answer is 42.", "42", AnswerForm.CUE),
        ("The answer is 3.5 apples. Or not.", "3.5 apples", AnswerForm.CUE),
        ("**Final Answer:** \\(x = 5\\)", "x = 5", AnswerForm.CUE),
        ("Answer:\n42", "42", AnswerForm.CUE),
        ("So the answer to the question is **(C)**", "(C)", AnswerForm.CUE),
        ("The answer is 1. No, the answer is 2.", "2", AnswerForm.CUE),
        ("**73**\n\nSince 900+5=905", "73", AnswerForm.BOLD),
    ],
)
def test_marked_answers(text: str, answer: str, form: AnswerForm) -> None:
    found = find_answer(text)
    assert found is not None
    assert (found.text, found.form) == (answer, form)
    assert text[found.span.start : found.span.end] == answer


@pytest.mark.parametrize("text", ["", "42", r"\boxed{42", "**Step one**: add.", "####", "Answer:"])
def test_texts_that_mark_none(text: str) -> None:
    assert find_answer(text) is None


def test_last_line() -> None:
    text = "Thinking aloud.\n  Paris. \n\n"
    found = last_line(text)
    assert found is not None
    assert (found.text, found.form) == ("Paris", AnswerForm.LINE)
    assert last_line(" \n ") is None


def test_thinking_is_cut_and_spans_map_back() -> None:
    text = r"a <think>\boxed{1}</think> b \boxed{2} <think>more"
    cut = without_thinking(text)
    assert cut.text == r"a  b \boxed{2} "
    found = find_answer(cut.text)
    assert found is not None
    start, end = cut.to_original(*found.span)
    assert text[start:end] == "2"


@given(st.lists(st.sampled_from(["<think>", "</think>", "\\boxed{", "}", "4", " ", "####", "\n"])))
def test_spans_of_any_text_map_back(pieces: list[str]) -> None:
    text = "".join(pieces)
    cut = without_thinking(text)
    if (found := find_answer(cut.text)) is not None:
        start, end = cut.to_original(*found.span)
        assert found.text in cut.text
        assert (text[start], text[end - 1]) == (found.text[0], found.text[-1])


@pytest.mark.parametrize("piece", ["\\boxed{", "answer is ", "answer", "<answer>", "**", "#### "])
def test_hostile_lengths_cost_little(piece: str) -> None:
    began = time.perf_counter()
    find_answer(piece * (200_000 // len(piece)))
    assert time.perf_counter() - began < 5
