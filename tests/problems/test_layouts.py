"""One row of each known layout, as the data sets have them, to a problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hara_viz.problems import ColumnMap, ProblemSet, load_problems
from hara_viz.types import Message

USER = [{"role": "user", "content": "What is 7*6?"}]
GSM8K = "7*6 is <<7*6=42>>42 times 24 is <<42*24=1008>>1,008.\n#### 1,008"

# (layout, row, gold, source_id)
ROWS: list[tuple[str, dict[str, Any], str, str | None]] = [
    (
        "verl",
        {
            "data_source": "openai/gsm8k",
            "prompt": USER,
            "ability": "math",
            "reward_model": {"style": "rule", "ground_truth": "42"},
            "extra_info": {"split": "train", "index": 0, "answer": "…#### 42", "question": "raw"},
        },
        "42",
        "0",
    ),
    (
        "DAPO-Math",
        {
            "data_source": "math_dapo",
            "prompt": USER,
            "reward_model": {"ground_truth": "34", "style": "rule-lighteval/MATH_v2"},
            "extra_info": {"index": "9a9b6eb4"},
        },
        "34",
        "9a9b6eb4",
    ),
    (
        "DAPO-Math",
        {"prompt": "What is 7*6?", "solution": "42", "source_prompt": [USER[0], USER[0]]},
        "42",
        None,
    ),
    ("GSM8K", {"question": "What is 7*6?", "answer": GSM8K}, "1008", None),
    (
        "MATH",
        {
            "problem": "What is 7*6?",
            "solution": r"It is $\boxed{\dfrac{9}{7}}$.",
            "answer": r"\dfrac{9}{7}",
            "subject": "Precalculus",
            "level": 3,
            "unique_id": "test/precalculus/807.json",
        },
        r"\dfrac{9}{7}",
        "test/precalculus/807.json",
    ),
    (
        "MATH",
        {
            "problem": "What is 7*6?",
            "level": "Level 5",
            "type": "Algebra",
            "solution": r"First \boxed{1}, then $\boxed{\frac{1}{2}}$.",
        },
        r"\frac{1}{2}",
        None,
    ),
    (
        "AIME",
        {
            "id": 60,
            "problem": "What is 7*6?",
            "solution": "long",
            "answer": "033",
            "url": "https://example.org",
            "year": "2024",
        },
        "33",
        "60",
    ),
    (
        "AIME",
        {"ID": "2024-I-1", "Problem": "What is 7*6?", "Solution": "long", "Answer": 204},
        "204",
        "2024-I-1",
    ),
    ("AIME", {"problem": "What is 7*6?", "answer": "70", "id": "0"}, "70", "0"),
    ("prompt + solution", {"prompt": USER, "solution": r"so $\boxed{42}$"}, "42", None),
    ("prompt + solution", {"prompt": "What is 7*6?", "answer": 42.0}, "42", None),
    (
        "messages",
        {"messages": [*USER, {"role": "assistant", "content": "7*6\n#### 42"}]},
        "42",
        None,
    ),
    ("messages", {"messages": USER, "answer": "42", "id": "a7"}, "42", "a7"),
    ("question + answer", {"Question": "What is 7*6?", "ANSWER": "42"}, "42", None),
    ("question + answer", {"instruction": "What is 7*6?", "output": "42"}, "42", None),
]


def write_lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_one(path: Path, row: dict[str, Any], columns: ColumnMap | None = None) -> ProblemSet:
    return load_problems(write_lines(path / "set.jsonl", [row]), columns=columns)


@pytest.mark.parametrize(("layout", "row", "gold", "source_id"), ROWS)
def test_row_of_each_layout(
    tmp_path: Path, layout: str, row: dict[str, Any], gold: str, source_id: str | None
) -> None:
    found = read_one(tmp_path, row)
    assert found.format == layout
    (problem,) = found.problems
    assert problem.messages == (Message("user", "What is 7*6?"),)
    assert problem.gold == gold
    assert problem.source_id == source_id


def test_same_problem_has_the_same_id_in_every_layout(tmp_path: Path) -> None:
    of_42 = [row for _, row, gold, _ in ROWS if gold == "42"]
    assert len(of_42) > 5
    assert len({read_one(tmp_path, row).problems[0].problem_id for row in of_42}) == 1


def test_system_turn_stays_in_the_prompt(tmp_path: Path) -> None:
    turns = [{"role": "system", "content": "Be brief."}, *USER]
    (problem,) = read_one(tmp_path, {"prompt": turns, "solution": "42"}).problems
    assert [m.role for m in problem.messages] == ["system", "user"]


def test_text_parts_of_a_turn_are_joined(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "What is "}, {"type": "text", "text": "7*6?"}]
    row = {"prompt": [{"role": "user", "content": parts}], "solution": "42"}
    assert read_one(tmp_path, row).problems[0].messages[0].content == "What is 7*6?"


def test_named_columns_reach_into_records(tmp_path: Path) -> None:
    row = {"Meta": {"Key": "42", "nr": 7}, "q": "What is 7*6?", "answer": "wrong"}
    columns = ColumnMap.parse("question=q, gold=meta.key, id=meta.nr")
    (problem,) = read_one(tmp_path, row, columns).problems
    assert (problem.gold, problem.source_id) == ("42", "7")


def test_named_question_alone_gives_problems_without_gold(tmp_path: Path) -> None:
    found = read_one(tmp_path, {"q": "What is 7*6?"}, ColumnMap(question="q"))
    assert found.problems[0].gold is None
    assert found.skipped == ()


def test_half_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    row = {"question": "ok \ud83d\ude00 broken \ud83d", "answer": "42"}
    content = read_one(tmp_path, row).problems[0].messages[0].content
    assert content == "ok 😀 broken \ufffd"
    content.encode("utf-8")


PLAIN = {"question": "What is 7*6?", "answer": "42"}
TRL = {"prompt": USER, "solution": "42"}
VERL = {"prompt": USER, "reward_model": {"style": "rule", "ground_truth": "42"}}
CHAT = {"messages": [*USER, {"role": "assistant", "content": "#### 42"}]}


@pytest.mark.parametrize(
    ("good", "row", "why"),
    [
        (PLAIN, {"question": "  ", "answer": "1"}, "question is empty"),
        (PLAIN, {"question": "q", "answer": None}, "gold answer is missing"),
        (PLAIN, {"question": "q", "answer": float("nan")}, "gold answer is missing"),
        (PLAIN, {"question": "q", "answer": " "}, "gold answer is empty"),
        (PLAIN, {"question": "q", "answer": ["1", "2"]}, "2 gold answers"),
        (PLAIN, {"question": "q", "answer": "x" * 301}, "long text that marks no answer"),
        (PLAIN, {"question": "q", "answer": {"inputs": []}}, "record"),
        (PLAIN, {"question": 5, "answer": "1"}, "the prompt is int '5'"),
        (PLAIN, ["q", "1"], "list, not a record"),
        (TRL, {"prompt": USER}, "gold answer is missing"),
        (
            TRL,
            {"prompt": [{"role": "user", "content": [{"type": "image"}]}], "answer": "1"},
            "parts that are not text",
        ),
        (VERL, {**VERL, "reward_model": {"ground_truth": '{"inputs": ["1"]}'}}, "code tests"),
        (VERL, {**VERL, "images": ["x"]}, "images"),
        (VERL, {**VERL, "reward_model": {}}, "gold answer is missing"),
        (CHAT, {"messages": USER}, "neither a closing reply nor an answer"),
        (CHAT, {"messages": [{"role": "assistant", "content": "#### 1"}]}, "no question"),
    ],
)
def test_unusable_rows_are_skipped_with_the_reason(
    tmp_path: Path, good: dict[str, Any], row: Any, why: str
) -> None:
    found = load_problems(write_lines(tmp_path / "set.jsonl", [good, row]))
    assert len(found.problems) == 1
    assert [skipped.row for skipped in found.skipped] == [2]
    assert why in found.skipped[0].why
