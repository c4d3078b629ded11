"""Our own record: flat or grouped, JSON lines, JSON or Parquet, text or tokens."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hara_viz.backend.import_run import ImportJob, import_run, look_at
from hara_viz.importers import Tokenizer
from hara_viz.store import open_run
from hara_viz.types import Finish, Message, TokensSource
from tests.importers.conftest import Imported, rewards
from tests.importers.dumps import OTHER, QUESTION, RIGHT, WRONG, chat, said, write_lines

FLAT = [
    {"prompt": question, "completion": text, "reward": reward, "step": step, "answer": "42"}
    for step in (1, 2)
    for question in (QUESTION, OTHER)
    for text, reward in ((RIGHT, 1.0), (WRONG, 0.0))
]


def test_flat_records(tmp_path: Path, imported: Imported) -> None:
    report, groups = imported(write_lines(tmp_path / "dump.jsonl", FLAT))
    assert (report.format, report.n_groups, report.steps) == ("generic", 4, (1, 2))
    assert rewards(groups) == [[1, 0]] * 4
    assert groups[0].rollouts[0].gold == "42"


def test_all_kinds_of_files_say_the_same(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "a.jsonl", FLAT)
    (tmp_path / "b.json").write_text(json.dumps(FLAT))
    pq.write_table(pa.Table.from_pylist(FLAT), tmp_path / "c.parquet")
    found = [look_at(path) for path in (lines, tmp_path / "b.json", tmp_path / "c.parquet")]
    assert {(f.n_rollouts, f.n_groups, f.steps) for f in found} == {(8, 4, (1, 2))}


def test_grouped_records(tmp_path: Path, imported: Imported) -> None:
    rows = [
        {"prompt": chat(QUESTION), "completions": [RIGHT, WRONG], "rewards": [1, 0],
         "advantages": [0.5, -0.5], "finish_reasons": ["stop", "length"], "step": 4}
    ] * 2  # fmt: skip
    report, groups = imported(write_lines(tmp_path / "dump.jsonl", rows))
    assert [group.key.group for group in groups] == [0, 1], "each record is a group"
    second = groups[0].rollouts[1]
    assert (second.reward, second.recorded_advantage) == (0.0, -0.5)
    assert second.finish is Finish.LENGTH
    assert report.group_sizes == {2: 2}


def test_chats(tmp_path: Path, imported: Imported) -> None:
    rows: list[dict[str, Any]] = [
        {"messages": [*chat(QUESTION, "Be brief."), *said(RIGHT)], "score": "1"},
        {"messages": chat(QUESTION, "Be brief."), "completion": said(WRONG), "score": "0"},
    ]
    _, (group,) = imported(write_lines(tmp_path / "dump.jsonl", rows))
    assert rewards([group]) == [[1, 0]]
    assert [r.completion_text for r in group.rollouts] == [RIGHT, WRONG]
    assert group.rollouts[0].prompt_messages == (Message("user", QUESTION),)


def token_record(tokenizer: Tokenizer, text: str, **more: Any) -> dict[str, Any]:
    tokens = [*tokenizer.encode(text), min(tokenizer.end_ids)]
    n_tokens = len(tokens)
    return {
        "prompt_ids": list(tokenizer.render((Message("user", QUESTION),))),
        "completion_ids": tokens,
        "completion_text": text,
        "prompt_messages": chat(QUESTION),
        "logprobs": [-0.5] * n_tokens,
        "logprobs_kind": "raw",
        "token_advantages": [0.25] * n_tokens,
        "rewards": {"right": 1.0, "format": None},
        "reward": 1.0,
        "step": 1,
        "group_id": "g",
        "sample_idx": 0,
        **more,
    }


def test_tokens_are_kept_as_they_are(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    records = [token_record(tokenizer, RIGHT, sample_idx=1), token_record(tokenizer, WRONG)]
    report, (group,) = imported(write_lines(tmp_path / "dump.jsonl", records))
    first, second = group.rollouts
    assert second.completion_ids == tuple(records[0]["completion_ids"]), "ordered by sample_idx"
    assert second.tokens_source is TokensSource.DUMP
    assert second.finish is Finish.STOP, "the last id is an end mark"
    assert second.prompt_ids == tuple(records[0]["prompt_ids"])
    assert second.logprobs is not None and set(second.logprobs) == {-0.5}
    assert second.recorded_advantage == 0.25
    assert second.recorded_advantages == (0.25,) * len(second.completion_ids)
    assert first.reward_parts == {"right": 1.0, "format": None}
    assert not any("token ids of the completions" in what for what in report.missing)
    assert not any("read otherwise" in warning for warning in report.warnings)


def test_text_of_another_tokenizer_is_told(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    record = token_record(tokenizer, RIGHT, completion_text="Bananas.")
    report, _ = imported(write_lines(tmp_path / "dump.jsonl", [record]))
    assert any("1 completions read otherwise" in warning for warning in report.warnings)


def test_ids_and_text_need_no_tokenizer(tmp_path: Path, tokenizer: Tokenizer) -> None:
    dump = write_lines(tmp_path / "dump.jsonl", [token_record(tokenizer, RIGHT)])
    report = import_run(ImportJob(source=dump, out=tmp_path / "run"))
    assert not report.needs_tokenizer
    run = open_run(tmp_path / "run")
    rollout = run.load_group(run.keys()[0]).rollouts[0]
    assert rollout.completion_text == RIGHT and rollout.cell_start is None
    assert run.info.checkpoint is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"logprobs": [-1.0]}, "logprobs and token ids differ in length"),
        ({"completion_ids": [1, -5]}, "no token id"),
        ({"completion_ids": [1, 2**40]}, "no token id"),
        ({"completion_ids": [True]}, "no token id"),
        ({"completion_ids": {"a": 1}}, "completion_ids is no list"),
        ({"sampled_mask": [3]}, "no mask"),
        ({"reward": {"x": 1}}, "reward is no number"),
        ({"reward": "good"}, "reward is no number"),
        ({"step": -1}, "no whole number from 0"),
        ({"step": 1.5}, "no whole number from 0"),
        ({"step": 10**25}, "no whole number from 0"),
        ({"prompt_messages": [{"content": "x"}]}, "turn without a role"),
        ({"prompt_messages": [{"role": "user", "content": [{"type": "image"}]}]}, "images"),
    ],
)
def test_a_wrong_value_is_a_counted_skip(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer, change: dict, reason: str
) -> None:
    good = token_record(tokenizer, RIGHT)
    bad = {**token_record(tokenizer, WRONG, sample_idx=1), **change}
    report, (group,) = imported(write_lines(tmp_path / "dump.jsonl", [good, bad]))
    assert len(group) == 1
    (left,) = report.skipped
    assert left.count == 1 and reason in left.reason
    assert "row 2" in left.example


@pytest.mark.parametrize(
    "column", [["rewards"], ["advantages"], ["completion_ids"], ["rewards", "logprobs"]]
)
def test_a_group_of_uneven_columns_is_left_out_whole(tmp_path: Path, column: list[str]) -> None:
    good = {"prompt": "p", "completions": ["a", "b"]}
    rows = [good, {**good, **{name: [[1]] for name in column}}]
    report = look_at(write_lines(tmp_path / "dump.jsonl", rows))
    assert report.n_rollouts == 2
    assert report.skipped[0].reason == f"{column[0]} does not fit completions"


def test_unknown_is_not_zero(tmp_path: Path, imported: Imported) -> None:
    rows = [{"prompt": "p", "completion": c, "reward": r} for c, r in
            (("a", None), ("b", math.nan), ("c", math.inf), ("d", 0))]  # fmt: skip
    report, (group,) = imported(write_lines(tmp_path / "dump.jsonl", rows))
    assert rewards([group]) == [[None, None, None, 0.0]]
    rollout = group.rollouts[0]
    assert rollout.global_step is None and rollout.logprobs is None
    assert rollout.recorded_advantage is None and rollout.gold is None
    assert "rewards of 3 rollouts" in report.missing


def test_a_resumed_training_samples_a_step_again(tmp_path: Path, tokenizer: Tokenizer) -> None:
    """Same names, other words: no copy. Same names, same words: a copy."""
    once = token_record(tokenizer, RIGHT)
    again = token_record(tokenizer, WRONG)
    report = look_at(write_lines(tmp_path / "dump.jsonl", [once, again, once]))
    assert report.n_rollouts == 2
    assert report.skipped[0].count == 1 and len(report.skipped[0].example) < 60


def test_prompts_of_no_ids_and_of_foreign_ids(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    rows = [
        token_record(tokenizer, RIGHT, prompt_ids=[]),
        token_record(tokenizer, WRONG, prompt_ids=[999_999], sample_idx=1),
    ]
    report, (group,) = imported(write_lines(tmp_path / "dump.jsonl", rows))
    expected = tuple(tokenizer.render((Message("user", QUESTION),)))
    assert [r.prompt_ids for r in group.rollouts] == [expected]
    assert "does not have" in report.skipped[0].reason
