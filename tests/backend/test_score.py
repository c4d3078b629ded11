"""Scoring again: a new version, the old one kept; spans in the full text."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hara_viz.backend.score import score_run
from hara_viz.errors import HaraError, UnsafeError
from hara_viz.store import Run, RunWriter, open_run
from hara_viz.types import Progress, RolloutGroup, RunInfo
from tests.small_runs import PENS, PENS_TEXTS, group_of


@pytest.fixture
def copy(small_run: Path, tmp_path: Path) -> Run:
    return open_run(shutil.copytree(small_run, tmp_path / "run"))


def rewards_of(run: Run) -> list[list[float]]:
    keys = run.keys()
    return [run.load_group(key).rewards.tolist() for key in keys]


def test_the_new_verdicts_hold_and_the_old_ones_are_kept(copy: Run) -> None:
    before = {path: path.read_bytes() for path in copy.path.glob("rollouts/*")}
    said: list[Progress] = []
    assert score_run(copy, "number", said.append) == "v0001"
    run = open_run(copy.path)
    pens = run.load_group(run.keys()[0])
    assert pens.rewards.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    for rollout in pens.rollouts:
        assert rollout.answer_start is not None and rollout.answer_end is not None
        found = rollout.completion_text[rollout.answer_start : rollout.answer_end]
        assert found == rollout.extracted_answer
    assert run.complete and not run.verify()
    assert {path: path.read_bytes() for path in copy.path.glob("rollouts/*")} == before
    assert said[-1].done == said[-1].total == 13
    assert 0 < said[-1].figures["pass_rate"] < 1


def test_scoring_twice_makes_two_versions(copy: Run) -> None:
    score_run(copy, "number")
    first = rewards_of(open_run(copy.path))
    assert score_run(open_run(copy.path), "exact") == "v0002"
    assert rewards_of(open_run(copy.path)) != first
    assert score_run(open_run(copy.path), "number") == "v0003"
    assert rewards_of(open_run(copy.path)) == first


def test_what_was_not_sampled_is_not_judged(tmp_path: Path) -> None:
    group = group_of(PENS, PENS_TEXTS)
    first = replace(group.rollouts[0], error="out of memory")
    with RunWriter(tmp_path / "run", RunInfo()) as writer:
        writer.write_part([RolloutGroup((first, *group.rollouts[1:]))])
        writer.finish()
    score_run(open_run(tmp_path / "run"), "number")
    run = open_run(tmp_path / "run")
    judged = run.load_group(run.keys()[0]).rollouts
    assert judged[0].reward is None and judged[0].reward_reason == "not sampled"
    assert judged[1].reward == 1.0


def test_bad_rewards_leave_nothing_behind(copy: Run) -> None:
    before = sorted(copy.path.rglob("*"))
    with pytest.raises(HaraError, match="vibes"):
        score_run(copy, "vibes")
    with pytest.raises(UnsafeError):
        score_run(copy, "evil.py:reward")
    assert sorted(copy.path.rglob("*")) == before
