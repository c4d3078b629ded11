from __future__ import annotations

from collections.abc import Sequence

import pytest
from transformers import AutoTokenizer

from hara_viz.integrations.rollout_rows import (
    TextCutter,
    finish_of,
    problem_of,
    verdict,
)
from hara_viz.types import Finish, Message, Problem
from tests.integrations.demo_training import CHECKPOINT


def decode(ids: Sequence[int]) -> str:
    return "".join(chr(i) if i < 1000 else "<end>" for i in ids)


CUTTER = TextCutter(decode, frozenset({1000}))


def ids_of(text: str, *, end: bool = True) -> list[int]:
    return [*map(ord, text), *([1000] if end else [])]


def test_a_problem_has_one_id_wherever_it_stands() -> None:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1 + 1?"}]
    example = {"prompt": turns, "solution": 2, "id": "p-1", "gold": None}
    problem = problem_of(example, turns, None)
    assert problem == Problem(messages=(Message("user", "1 + 1?"),), gold="2", source_id="p-1")
    assert problem_of({"answer": "2"}, "1 + 1?", None).problem_id == problem.problem_id
    assert problem_of({"answer": "3", "key": "2"}, "1 + 1?", "key").problem_id == problem.problem_id
    parts = [{"role": "user", "content": [{"type": "text", "text": "1 + 1?"}]}]
    assert problem_of({"gold": "2"}, parts, None).problem_id == problem.problem_id


def test_the_answer_is_the_last_box_and_its_place_is_in_the_full_text() -> None:
    text = "First \\boxed{1}, then \\boxed{\\frac{1}{2}}. Done"
    ids = [1000, *ids_of(text)]
    columns = verdict(
        0.5, [1.0, float("nan")], ["a", "b"], CUTTER.cut(ids), ids, CUTTER.special_ids
    )
    full = CUTTER.cut(ids).cells.text
    assert columns["extracted_answer"] == "\\frac{1}{2}"
    assert full[columns["answer_start"] : columns["answer_end"]] == "\\frac{1}{2}"
    assert columns["reward_parts"] == {"a": 1.0, "b": None} and columns["reward"] == 0.5
    assert columns["reward_reason"] is None


@pytest.mark.parametrize("text", ["no box", "\\boxed{open", ""])
def test_without_a_box_there_is_no_answer(text: str) -> None:
    ids = ids_of(text)
    columns = verdict(float("nan"), [], [], CUTTER.cut(ids), ids, CUTTER.special_ids)
    assert (columns["extracted_answer"], columns["answer_start"]) == (None, None)
    assert columns["reward"] is None and columns["reward_reason"] == "no reward function scored it"


@pytest.mark.parametrize(
    ("ids", "expected"),
    [([1, 2, 9], Finish.STOP), ([1, 2, 3], Finish.LENGTH), ([1], Finish.UNKNOWN), ([], "unknown")],
)
def test_why_a_completion_ended(ids: list[int], expected: Finish) -> None:
    assert finish_of(ids, [9], 3) == expected


def test_a_tokenizer_is_copied_and_its_text_is_whole() -> None:
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    cutter = TextCutter.of_tokenizer(tokenizer, [2])
    ids = tokenizer("3 + 4 = 7 pens.")["input_ids"]
    text = cutter.cut([*ids, 2])
    assert text.cells.text == "3 + 4 = 7 pens.<|end|>"
    assert len(text.cells.cell_start) == len(text.reasoning_step) == len(ids) + 1
    assert {0, 2} <= cutter.special_ids
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|new|>"]})
    assert cutter.decode([len(tokenizer) - 1]) != "<|new|>"
