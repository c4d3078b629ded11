"""verl's `{step}.jsonl`: groups by uid or prompt, prompts rebuilt, torn and odd lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hara_viz.importers import Tokenizer
from hara_viz.types import Finish, Message, Problem
from tests.importers.conftest import Imported, rewards
from tests.importers.dumps import OTHER, QUESTION, RIGHT, WRONG, write_lines


def verl_row(
    tokenizer: Tokenizer, question: str, output: str, score: Any, step: int, **more: Any
) -> dict[str, Any]:
    """A line as verl writes it: both texts decoded without special tokens."""
    prompt = tokenizer.decode_stripped(tokenizer.render(turns(question)))
    return {"input": prompt, "output": output, "gts": "42", "score": score, "step": step, **more}


def turns(question: str, system: str = "Be brief.") -> Sequence[Message]:
    return (Message("system", system), Message("user", question))


def test_groups_by_equal_prompts_wherever_they_stand(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    """Rows are balanced between ranks, so a group is scattered over the file."""
    for step in (9, 10):
        rows = [
            verl_row(tokenizer, question, f"{RIGHT} {i}", float(i), step, acc=i == 1, pred="42")
            for i in range(2)
            for question in (QUESTION, OTHER)
        ]
        write_lines(tmp_path / f"{step}.jsonl", rows)
    report, groups = imported(tmp_path)
    assert (report.format, report.steps, report.n_groups) == ("verl", (9, 10), 4)
    assert rewards(groups) == [[0, 1]] * 4
    first = groups[0].rollouts[1]
    assert first.reward_parts == {"score": 1.0, "acc": 1.0}
    assert first.finish is Finish.UNKNOWN, "special tokens are stripped"
    assert first.gold == "42"


def test_prompt_ids_are_those_that_the_template_gives(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    write_lines(tmp_path / "1.jsonl", [verl_row(tokenizer, QUESTION, RIGHT, 1.0, 1)] * 2)
    report, (group,) = imported(tmp_path)
    rollout = group.rollouts[0]
    assert rollout.prompt_ids == tuple(tokenizer.render(turns(QUESTION)))
    assert rollout.prompt_messages == (Message("user", QUESTION),)
    assert (
        rollout.problem_id == Problem(messages=(Message("user", QUESTION),), gold="42").problem_id
    )
    assert "<|im_start|>" in rollout.prompt_text
    assert any("say the same as another" in warning for warning in report.warnings)


def test_a_prompt_of_another_template_is_never_encoded_as_it_stands(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    row = verl_row(tokenizer, QUESTION, RIGHT, 1.0, 1)
    strange = {**row, "input": "HUMAN 7*6? ROBOT"}
    write_lines(tmp_path / "1.jsonl", [row, strange])
    report, groups = imported(tmp_path)
    assert [group.rollouts[0].prompt_ids for group in groups] == [None, None]
    assert any("needs --problems" in warning for warning in report.warnings)


def test_problems_give_the_prompt_that_text_alone_does_not(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    """Three turns: no frame of a template tells them apart, the problem set does."""
    prompt = (*turns(QUESTION), Message("assistant", "Well?"), Message("user", "Please."))
    problems = write_lines(
        tmp_path / "set.jsonl",
        [{"prompt": [m._asdict() for m in prompt], "reward_model": {"ground_truth": "42"},
          "data_source": "x"}],
    )  # fmt: skip
    row = verl_row(tokenizer, QUESTION, RIGHT, 1.0, 1)
    row["input"] = tokenizer.decode_stripped(tokenizer.render(prompt))
    write_lines(tmp_path / "dump" / "1.jsonl", [row])
    _, (group,) = imported(tmp_path / "dump", problems=problems)
    assert group.rollouts[0].prompt_ids == tuple(tokenizer.render(prompt))
    assert group.rollouts[0].prompt_messages == prompt[1:]


def test_uids_name_groups_and_copies_are_left_out(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    uids = ["b_1_0", "a_10_0", "a_2_0", "b_0_0", "a_2_0"]
    rows = [verl_row(tokenizer, QUESTION, f"{WRONG} {uid}", 0.0, 3, uid=uid) for uid in uids]
    write_lines(tmp_path / "3.jsonl", rows)
    report, groups = imported(tmp_path)
    texts = [[r.completion_text.split()[-1] for r in group.rollouts] for group in groups]
    assert texts == [["b_0_0", "b_1_0"], ["a_2_0", "a_10_0"]]
    assert [group.key.group for group in groups] == [0, 1]
    (copy,) = report.skipped
    assert copy.count == 1 and "same id" in copy.reason


def test_one_prompt_drawn_twice_cannot_be_told_apart_without_uids(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    rows = [verl_row(tokenizer, q, f"{RIGHT} {i}", 1.0, 1) for q in "abc" for i in range(2)]
    rows += [verl_row(tokenizer, "a", f"{WRONG} {i}", 0.0, 1) for i in range(2)]
    write_lines(tmp_path / "1.jsonl", rows)
    report, groups = imported(tmp_path)
    assert sorted(map(len, groups)) == [2, 2, 4]
    assert any("several groups' worth" in warning for warning in report.warnings)


def test_lines_as_verl_writes_them(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    """Line separators inside texts, NaN, numbers as strings, and half a last line."""
    texts = ["a\u2028b", "c\u0085d", "e\rf"]
    scores = [float("nan"), "0.5", "True"]
    rows = [
        verl_row(tokenizer, QUESTION, text, score, 1)
        for text, score in zip(texts, scores, strict=True)
    ]
    path = write_lines(tmp_path / "1.jsonl", rows)
    whole = path.read_bytes()
    path.write_bytes(whole + json.dumps(rows[0]).encode()[:40])
    report, (group,) = imported(tmp_path)
    assert [rollout.completion_text for rollout in group.rollouts] == texts
    assert rewards([group]) == [[None, 0.5, 1.0]]
    (torn,) = report.skipped
    assert torn.count == 1 and "half a line" in torn.reason


def test_validations_are_a_split_of_their_own(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    row = verl_row(tokenizer, QUESTION, RIGHT, 1.0, 7)
    write_lines(tmp_path / "train" / "7.jsonl", [row])
    write_lines(tmp_path / "val" / "7.jsonl", [{**row, "reward": 1.0}])
    _, groups = imported(tmp_path)
    assert [group.rollouts[0].split for group in groups] == [None, "validation"]
