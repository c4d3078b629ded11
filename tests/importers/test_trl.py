"""TRL: groups from runs of rows, rewards, advantages, and what cannot be known."""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.backend.import_run import look_at
from hara_viz.importers import Tokenizer
from hara_viz.types import Finish, Message, Problem, TokensSource
from tests.importers.conftest import Imported, rewards
from tests.importers.dumps import (
    OTHER,
    QUESTION,
    RIGHT,
    chat,
    trl_group,
    trl_row,
    write_lines,
    write_trl,
)


def test_steps_groups_rewards_and_advantages(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    dump = tmp_path / "out"
    write_trl(dump, 10, [*trl_group(QUESTION, [1, 0, 0, 1]), *trl_group(OTHER, [0, 0, 0, 0])])
    write_trl(dump, 9, trl_group(QUESTION, [0, 0, 1, 0]))
    report, groups = imported(dump)
    assert (report.format, report.n_rows, report.n_groups) == ("trl", 12, 3)
    assert report.steps == (9, 10)
    assert [group.key.global_step for group in groups] == [9, 10, 10]
    assert rewards(groups) == [[0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0]]
    first = groups[1].rollouts[0]
    assert first.recorded_advantage == 0.5
    assert first.reward_parts == {"accuracy_reward": 1.0}
    assert first.advantage_rule and first.advantage_rule.startswith("trl")
    assert first.completion_text == f"{RIGHT} (0)"
    assert first.extracted_answer == "42"
    assert (first.finish, first.tokens_source) == (Finish.UNKNOWN, TokensSource.RETOKENISED)
    assert first.prompt_ids == tuple(tokenizer.render((Message("user", QUESTION),)))
    assert tokenizer.decode(first.completion_ids) == first.completion_text
    assert first.problem_id == Problem(messages=(Message("user", QUESTION),)).problem_id
    assert any("token ids" in what for what in report.missing)


def test_a_prompt_drawn_twice_in_a_row_is_two_groups(tmp_path: Path, imported: Imported) -> None:
    once, twice = trl_group(OTHER, [0, 1]), trl_group(QUESTION, [1, 0])
    write_trl(tmp_path, 3, [*once, *twice, *twice, *trl_group("Again?", [0, 0])])
    report, groups = imported(tmp_path)
    assert [len(group) for group in groups] == [2, 2, 2, 2]
    assert [group.key.group for group in groups] == [0, 0, 1, 0]
    assert "cut into groups of 2" in report.grouped_by


def test_a_group_that_the_deque_cut_is_told(tmp_path: Path, imported: Imported) -> None:
    rows = [*trl_group(OTHER, [0, 1, 1])[1:], *trl_group(QUESTION, [1, 0, 1])]
    write_trl(tmp_path, 3, [*rows, *trl_group("Again?", [0, 0, 1])])
    report, groups = imported(tmp_path)
    assert [len(group) for group in groups] == [2, 3, 3]
    assert any("1 of 3 groups are not of the usual size 3" in w for w in report.warnings)


def test_the_same_prompt_later_in_a_file_is_another_group(
    tmp_path: Path, imported: Imported
) -> None:
    """Leftover training rows and the evaluation of the same step share a file."""
    one = trl_group(QUESTION, [1, 0])
    write_trl(tmp_path, 5, [*one, *trl_group(OTHER, [0, 1]), *one])
    report, groups = imported(tmp_path)
    assert [len(group) for group in groups] == [2, 2, 2]
    assert sorted(group.key.group for group in groups) == [0, 0, 1]
    assert any("evaluation" in what for what in report.missing)


def test_null_rewards_are_unscored_and_functions_add_up(tmp_path: Path, imported: Imported) -> None:
    rows = [
        trl_row(QUESTION, "a", 1.0, 0.5, format_reward=0.25, solution="42"),
        trl_row(QUESTION, "b", None, 0.0, format_reward=None, solution="42"),
        trl_row(QUESTION, "c", float("nan"), -0.5, format_reward=0.5, solution="42"),
    ]
    write_trl(tmp_path, 1, rows)
    _, (group,) = imported(tmp_path)
    assert rewards([group]) == [[1.25, None, 0.5]]
    assert group.rollouts[2].reward_parts == {"accuracy_reward": None, "format_reward": 0.5}
    assert group.rollouts[1].reward_reason == "not scored in the dump"
    assert group.rollouts[0].gold == "42"


def test_struct_columns_with_nulls_and_tool_turns(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    """Arrow fills absent keys of turns with null; turns of tools were not sampled."""
    turns = [
        {"role": "assistant", "content": "Let me see.", "tool_calls": [{"name": "sum"}]},
        {"role": "tool", "content": "42", "name": "sum"},
        {"role": "assistant", "content": "So it is 42."},
    ]
    row = trl_row(QUESTION, "", 1.0, 0.0)
    write_trl(tmp_path, 1, [{**row, "completion": turns}, row | {"completion": turns[2:]}])
    _, (group,) = imported(tmp_path)
    first, second = group.rollouts
    mask = first.sampled_mask
    assert mask is not None
    sampled = [i for i, own in zip(first.completion_ids, mask, strict=True) if own]
    assert tokenizer.decode(sampled) == "Let me see.So it is 42."
    assert "tool\n42" in first.completion_text
    assert second.completion_text == "So it is 42." and second.sampled_mask is None


def test_the_same_rollouts_under_a_later_step_are_told(tmp_path: Path) -> None:
    for step in (4, 5):
        write_trl(tmp_path, step, trl_group(QUESTION, [1, 0]))
    assert any("5 repeats 4" in warning for warning in look_at(tmp_path).warnings)


def test_contrary_advantages_are_told(tmp_path: Path, imported: Imported) -> None:
    rows = [trl_row(QUESTION, "a", 1.0, -0.5), trl_row(QUESTION, "b", 0.0, 0.5)]
    write_trl(tmp_path, 1, rows)
    report, _ = imported(tmp_path)
    assert any("in 1 of 1 groups a higher reward" in warning for warning in report.warnings)


@pytest.mark.parametrize("system", [None, "Be brief."])
def test_problems_join_gold_answers(tmp_path: Path, imported: Imported, system: str | None) -> None:
    problems = write_lines(
        tmp_path / "set.jsonl", [{"id": "q1", "question": QUESTION, "answer": "42"}]
    )
    rows = [{**row, "prompt": chat(QUESTION, system)} for row in trl_group(QUESTION, [1, 0])]
    write_trl(tmp_path / "out", 1, [*rows, *trl_group(OTHER, [1, 0])])
    report, groups = imported(tmp_path / "out", problems=problems)
    joined = groups[0].rollouts[0]
    problem = Problem(messages=(Message("user", QUESTION),), gold="42")
    assert (joined.gold, joined.source_id) == ("42", "q1")
    assert joined.problem_id == problem.problem_id, "as in a run sampled from this set"
    assert ("Be brief." in joined.prompt_text) == (system is not None)
    assert groups[1].rollouts[0].gold is None
    assert any("1 of 2 groups have a prompt that is not in" in w for w in report.warnings)


def test_plain_prompts_are_encoded_as_the_tokenizer_does(
    tmp_path: Path, imported: Imported, tokenizer: Tokenizer
) -> None:
    rows = [{**row, "prompt": "7*6=", "completion": " 42"} for row in trl_group(QUESTION, [1, 1])]
    write_trl(tmp_path, 1, rows)
    _, (group,) = imported(tmp_path)
    assert group.rollouts[0].prompt_text == "7*6="
    assert group.rollouts[0].prompt_ids == tuple(tokenizer.encode_prompt("7*6="))
    assert group.rollouts[0].prompt_messages == (Message("user", "7*6="),)
