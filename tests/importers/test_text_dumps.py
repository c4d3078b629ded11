"""Dumps of text alone: verifiers, SkyRL, Relax, ROLL."""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

import pytest

from hara_viz.importers import Tokenizer
from hara_viz.importers.foreign import Place
from hara_viz.importers.formats import verifiers
from hara_viz.types import Finish, Message
from tests.importers.conftest import Imported, rewards
from tests.importers.dumps import OTHER, QUESTION, RIGHT, WRONG, chat, said, write_lines


def test_verifiers_results(tmp_path: Path, imported: Imported) -> None:
    rows = [
        {"example_id": example, "prompt": chat(question), "completion": said(text),
         "answer": "42", "reward": reward, "metrics": {"correct": reward}, "correct": reward,
         "is_completed": True, "is_truncated": truncated, "stop_condition": None, "error": None}
        for text, reward, truncated in ((RIGHT, 1.0, False), (WRONG, 0.0, True))
        for example, question in ((4, QUESTION), (5, OTHER))
    ]  # fmt: skip
    write_lines(tmp_path / "outputs/evals/gsm--m/1/results.jsonl", rows)
    report, groups = imported(tmp_path)
    assert report.format == "verifiers"
    assert rewards(groups) == [[1, 0], [1, 0]]
    finishes = [rollout.finish for rollout in groups[0].rollouts]
    assert finishes == [Finish.STOP, Finish.LENGTH]
    assert (groups[0].rollouts[0].gold, groups[0].rollouts[0].source_id) == ("42", "4")
    assert groups[0].rollouts[0].reward_parts == {"correct": 1.0}


def test_early_prime_rl_rollouts_have_their_step_in_the_path(
    tmp_path: Path, imported: Imported
) -> None:
    row = {"example_id": 1, "prompt": chat(QUESTION), "completion": said(RIGHT), "reward": 1.0}
    for step in (2, 10):
        write_lines(tmp_path / f"rollouts/step_{step}/train_rollouts.jsonl", [row])
    report, groups = imported(tmp_path)
    assert report.steps == (2, 10)
    assert groups[0].rollouts[0].split == "train"


@pytest.mark.parametrize(
    ("path", "split"),
    [
        ("evals/m/1/results.jsonl", "eval"),
        ("training/eval/results.jsonl", "eval"),
        ("rollouts/train_rollouts.jsonl", "train"),
        ("constraints/results.jsonl", None),
        ("retrieval/medieval.jsonl", None),
    ],
)
def test_the_split_is_a_word_of_the_path_not_a_part_of_one(path: str, split: str | None) -> None:
    record = {"example_id": 1, "prompt": chat(QUESTION), "completion": said(RIGHT), "reward": 1.0}
    (rollout,) = verifiers.read(record, Place(PurePath(path), 1, {}))
    assert rollout.split == split


def test_skyrl_keeps_its_special_tokens(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    prompt = tokenizer.decode(tokenizer.render((Message("user", QUESTION),)))
    rows: list[dict[str, Any]] = [
        {"input_prompt": prompt, "output_response": f"{text}<|im_end|>", "score": score,
         "stop_reason": reason, "env_class": "gsm8k", "data_source": "gsm8k",
         "env_extras": {"reward_spec": {"ground_truth": "42"}}}
        for text, score, reason in ((RIGHT, [0.0, 0.5, 0.5], "stop"), (WRONG, 0.0, "length"))
    ]  # fmt: skip
    folder = tmp_path / "dumped_evals" / "global_step_20_evals"
    write_lines(folder / "gsm8k.jsonl", rows)
    write_lines(folder / "aggregated_results.jsonl", [{"mean": 0.5}])
    report, (group,) = imported(tmp_path)
    assert (report.format, report.steps) == ("skyrl", (20,))
    assert rewards([group]) == [[1.0, 0.0]]
    first = group.rollouts[0]
    assert first.prompt_ids == tuple(tokenizer.render((Message("user", QUESTION),)))
    assert first.completion_ids[-1] in tokenizer.special_ids, "the mark is one token"
    assert (first.gold, first.finish) == ("42", Finish.STOP)
    assert first.prompt_messages == (Message("user", QUESTION),)
    assert report.files_left_out[0].count == 1


def test_relax_results(tmp_path: Path, imported: Imported) -> None:
    rows = [
        {"rollout_id": 3, "sample_index": 7 - i, "group_index": 2, "prompt": QUESTION,
         "response": text, "label": "42", "reward": float(1 - i), "response_length": 9,
         "total_length": 14, "status": "completed"}
        for i, text in enumerate((RIGHT, WRONG))
    ]  # fmt: skip
    write_lines(tmp_path / "rollout_result/train/3.jsonl", rows)
    report, (group,) = imported(tmp_path)
    assert (report.format, report.steps) == ("relax", (3,))
    assert rewards([group]) == [[0, 1]], "ordered by sample_index"
    assert (group.rollouts[0].split, group.rollouts[0].gold) == ("train", "42")


def test_roll_batches(tmp_path: Path, imported: Imported) -> None:
    columns = {
        "global_step": [3, 3], "id": ["a", "b"], "prompt": ["x", "x"],
        "messages": [json.dumps(chat(QUESTION))] * 2, "ground_truth": ["42", "42"],
        "responses": [RIGHT, WRONG], "scores": [1.0, 0.0], "sampling_params": ["{}", "{}"],
    }  # fmt: skip
    uneven = {**columns, "scores": [1.0]}
    write_lines(tmp_path / "rollout_dump_data.step_3.jsonl", [columns, uneven])
    report, (group,) = imported(tmp_path)
    assert (report.format, report.steps, report.n_rows) == ("roll", (3,), 2)
    assert rewards([group]) == [[1, 0]]
    assert group.rollouts[0].prompt_messages == (Message("user", QUESTION),)
    assert report.skipped[0].reason == "columns of unequal length"
