"""Dumps with token ids: prime-rl, NeMo-RL, open-instruct. Ids, masks and advantages stay theirs."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import pytest

from hara_viz.backend.import_run import look_at
from hara_viz.importers import Tokenizer
from hara_viz.types import Finish, Message, TokensSource
from tests.importers.conftest import Imported, rewards
from tests.importers.dumps import OTHER, QUESTION, RIGHT, WRONG, write_lines


def episode(
    tokenizer: Tokenizer, name: str, text: str, score: float | None, group: str = "g9"
) -> dict[str, Any]:
    """One episode; the answer's node begins with two header tokens that were not sampled."""
    prompt = list(tokenizer.render((Message("user", QUESTION),)))
    own = [*tokenizer.encode(text), min(tokenizer.end_ids)]
    mask = [False, False] + [True] * len(own)
    rewards_ = {"correct": None if score is None else {"score": score, "weight": 2.0}}
    nodes = [
        {"message": {"role": "user", "content": QUESTION}, "sampled": False,
         "token_ids": prompt[:-2], "mask": [False] * (len(prompt) - 2), "logprobs": []},
        {"parent": 0, "message": {"role": "assistant", "content": text}, "sampled": True,
         "token_ids": prompt[-2:] + own, "mask": mask, "logprobs": [-0.25] * len(own),
         "advantages": [0.5] * len(own)},
    ]  # fmt: skip
    return {
        "id": name, "env": {"id": "gsm"}, "group": {"id": group}, "ok": True,
        "task": {"type": "Gsm", "key": "gsm-4", "data": {"idx": 4, "answer": "42"}},
        "traces": [{"version": 1, "rewards": rewards_, "nodes": nodes, "stop_condition": None,
                    "calls": [{"node": 1, "finish_reason": "stop"}]}],
    }  # fmt: skip


def traces(folder: Path, step: int, records: list[Any], kind: str = "all") -> Path:
    return write_lines(folder / f"rollouts/step_{step}/train/{kind}/traces.jsonl", records)


def test_prime_rl_episodes(tmp_path: Path, imported: Imported, tokenizer: Tokenizer) -> None:
    records = [episode(tokenizer, "e1", RIGHT, 1.0), episode(tokenizer, "e2", WRONG, None)]
    other = [episode(tokenizer, "e3", WRONG, 0.0, "g8")]
    unscored = copy.deepcopy(records)
    for record in unscored:
        del record["traces"][0]["nodes"][1]["advantages"]
    traces(tmp_path, 12, [unscored[0], *other, unscored[1]])
    traces(tmp_path, 12, records, "effective")
    report, groups = imported(tmp_path)
    assert (report.format, report.steps, report.n_rollouts) == ("prime-rl", (12,), 3)
    assert report.skipped[0].count == 2 and "read before" in report.skipped[0].reason
    assert rewards(groups) == [[2.0, None], [0.0]]
    rollout = groups[0].rollouts[0]
    assert rollout.prompt_ids == tuple(tokenizer.render((Message("user", QUESTION),)))
    assert rollout.completion_ids == (*tokenizer.encode(RIGHT), min(tokenizer.end_ids))
    assert rollout.sampled_mask is None, "the header belongs to the prompt"
    assert rollout.logprobs == (-0.25,) * len(rollout.completion_ids)
    assert rollout.logprobs_kind is None
    assert rollout.recorded_advantages == (0.5,) * len(rollout.completion_ids)
    assert (rollout.recorded_advantage, rollout.gold, rollout.split) == (0.5, "42", "train")
    assert rollout.reward_parts == {"correct": 1.0}
    assert (rollout.finish, rollout.tokens_source) == (Finish.STOP, TokensSource.DUMP)
    assert rollout.source_id == "gsm-4"


def test_prime_rl_tools_and_branches(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    """A tool's turn inside the completion is masked; each leaf is a rollout."""
    record = episode(tokenizer, "e1", "Let me see.", 1.0)
    nodes = record["traces"][0]["nodes"]
    tool = tokenizer.encode("tool says 42")
    for parent, text in ((2, RIGHT), (1, WRONG)):
        if parent == 2:
            answer = {"message": {"role": "tool", "content": "42"}, "sampled": False}
            nodes.append({"parent": 1, **answer, "token_ids": tool, "mask": [False] * len(tool)})
        own = list(tokenizer.encode(text))
        nodes.append({"parent": parent, "message": {"role": "assistant", "content": text},
                      "sampled": True, "token_ids": own, "mask": [True] * len(own),
                      "logprobs": [-1.0] * len(own), "advantages": None})  # fmt: skip
    traces(tmp_path, 1, [record])
    report, (group,) = imported(tmp_path)
    first, second = group.rollouts
    assert first.sampled_mask is not None and second.sampled_mask is None
    masked = [i for i, own in zip(first.completion_ids, first.sampled_mask, strict=True) if not own]
    assert masked == list(tool)
    assert first.logprobs is not None
    assert [math.isnan(x) for x in first.logprobs] == [not own for own in first.sampled_mask]
    assert first.recorded_advantages is None, "one node was never scored: unknown, not zero"
    assert second.completion_text.endswith(WRONG)
    assert report.n_rows == 1 and report.n_rollouts == 2


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        ("parent", 1, "whose parent does not come before it"),
        ("parent", -1, "whose parent does not come before it"),
        ("parent", "x", "whose parent does not come before it"),
        ("logprobs", [-1.0], "logprobs and sampled tokens differ"),
        ("mask", [True], "mask and token ids differ"),
        ("token_ids", [[1]], "no token id"),
        ("message", {"role": 3}, "turn without a role"),
    ],
)
def test_prime_rl_nonsense_is_skipped(
    tmp_path: Path, tokenizer: Tokenizer, place: str, value: Any, reason: str
) -> None:
    good = episode(tokenizer, "e1", RIGHT, 1.0)
    bad = copy.deepcopy(episode(tokenizer, "e2", RIGHT, 1.0))
    bad["traces"][0]["nodes"][1][place] = value
    failed = {**episode(tokenizer, "e3", RIGHT, 1.0), "traces": [], "errors": [{"type": "Timeout"}]}
    traces(tmp_path, 1, [good, bad, failed, good])
    report = look_at(tmp_path)
    reasons = {left.reason: left.count for left in report.skipped}
    assert any(reason in found for found in reasons), reasons
    assert reasons["the episode sampled nothing"] == 1
    assert reasons["a copy of a rollout that was read before (same id, same words)"] == 1
    assert report.n_rollouts == 1


def nemo_row(tokenizer: Tokenizer, question: str, text: str, reward: float) -> dict[str, Any]:
    prompt = list(tokenizer.render((Message("user", question),)))
    own = [*tokenizer.encode(text), min(tokenizer.end_ids)]
    length, padding = len(prompt) + len(own), 3
    mask = [0] * len(prompt) + [1] * len(own) + [0] * padding
    return {
        "content": [f"{question} {text}"], "rewards": [reward], "input_lengths": [length],
        "token_ids": [prompt + own + [0] * padding], "token_loss_mask": [mask],
        "sample_loss_mask": [1.0], "advantages": [[reward - 0.5] * len(mask)],
        "generation_logprobs": [[0.0] * len(prompt) + [-0.5] * len(own) + [0.0] * padding],
        "prev_logprobs": [[0.0] * len(mask)], "idx": 0,
    }  # fmt: skip


def test_nemo_rl_batches(tmp_path: Path, imported: Imported, tokenizer: Tokenizer) -> None:
    rows = [
        nemo_row(tokenizer, question, text, reward)
        for text, reward in ((RIGHT, 1.0), (WRONG, 0.0))
        for question in (QUESTION, OTHER)
    ]
    write_lines(tmp_path / "exp_001" / "train_data_step3.jsonl", rows)
    report, groups = imported(tmp_path)
    assert (report.format, report.steps) == ("nemo-rl", (3,))
    assert rewards(groups) == [[1, 0], [1, 0]]
    rollout = groups[0].rollouts[0]
    assert rollout.prompt_ids == tuple(tokenizer.render((Message("user", QUESTION),)))
    assert rollout.prompt_messages == (Message("user", QUESTION),), "unrendered from its ids"
    assert rollout.completion_ids == (*tokenizer.encode(RIGHT), min(tokenizer.end_ids))
    assert rollout.logprobs == (-0.5,) * len(rollout.completion_ids)
    assert (rollout.recorded_advantage, rollout.finish) == (0.5, Finish.STOP)


def test_nemo_rl_validation_and_bad_lengths(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    turns = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": RIGHT}]
    write_lines(tmp_path / "val_data_step3.jsonl", [{"content": [turns], "rewards": [1.0]}])
    long = {**nemo_row(tokenizer, OTHER, RIGHT, 1.0), "input_lengths": [999]}
    unsampled = nemo_row(tokenizer, OTHER, RIGHT, 1.0)
    unsampled["token_loss_mask"] = [[0] * len(unsampled["token_ids"][0])]
    write_lines(tmp_path / "train_data_step3.jsonl", [long, unsampled])
    report, (group,) = imported(tmp_path)
    assert group.rollouts[0].split == "val"
    assert group.rollouts[0].completion_text == RIGHT
    assert {left.reason for left in report.skipped} == {
        "input_lengths does not fit token_ids", "no token was sampled",
    }  # fmt: skip


def test_open_instruct_traces(tmp_path: Path, imported: Imported, tokenizer: Tokenizer) -> None:
    prompt = list(tokenizer.render((Message("user", QUESTION),)))
    rows = [
        {"step": step, "sample_idx": i, "prompt_idx": 0, "prompt_tokens": prompt,
         "response_tokens": list(tokenizer.encode(text)), "reward": 10.0 * i, "advantage": i - 0.5,
         "finish_reason": "length", "dataset": "gsm8k", "ground_truth": ["42"],
         "request_info": None, "logprobs": None}
        for step in (1, 2)
        for i, text in enumerate((WRONG, RIGHT))
    ]  # fmt: skip
    write_lines(tmp_path / "run_rollouts_000000.jsonl", rows)
    write_lines(tmp_path / "run_metadata.jsonl", [{"model_name": "x"}])
    report, groups = imported(tmp_path)
    assert (report.format, report.steps, report.n_groups) == ("open-instruct", (1, 2), 2)
    second = groups[0].rollouts[1]
    assert (second.completion_text, second.reward, second.recorded_advantage) == (RIGHT, 10, 0.5)
    assert (second.gold, second.finish) == ("42", Finish.LENGTH)
    assert second.prompt_messages == (Message("user", QUESTION),)


def test_ids_of_another_vocabulary_are_refused_in_one_sentence(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    row = {"prompt_tokens": [1, 2], "response_tokens": [999_999], "reward": 1.0}
    write_lines(tmp_path / "dump" / "a.jsonl", [row])
    with pytest.raises(ValueError, match="that the tokenizer of --model does not have"):
        imported(tmp_path / "dump")
    assert not (tmp_path / "runs").exists()
