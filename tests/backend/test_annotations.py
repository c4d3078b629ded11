"""What people say about a run, by its backend and on the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hara_viz.backend.annotations import Kind, annotate_group, annotations_of, take_back
from hara_viz.backend.credit import credit_group
from hara_viz.cli.frame import app
from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.store import RunWriter, open_run
from hara_viz.types import RolloutGroup
from tests.small_runs import write_run
from tests.store.builders import make_info, make_rollout


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run")


def test_a_verdict_put_right_changes_reward_and_credit_until_it_is_taken_back(path: Path) -> None:
    run = open_run(path)
    key = run.keys()[0]
    before = credit_group(run, key)
    row = before.group.rewards.tolist().index(0.0)
    sample = before.group.rollouts[row].sample
    said = annotate_group(run, Kind.VERDICT, key, sample=sample, reward=1.0, text="right, in words")
    after = open_run(path)
    rollout = after.load_group(key).rollouts[row]
    assert (rollout.reward, rollout.reward_reason) == (1.0, "overridden: right, in words")
    assert float(credit_group(after, key).credit.baseline[row]) > 0
    assert annotations_of(after, key) == (said,) and annotations_of(after, run.keys()[1]) == ()
    take_back(after, said.id[:6])
    again = open_run(path)
    assert again.load_group(key).rollouts[row].reward == 0.0 and annotations_of(again) == ()


def test_what_cannot_be_meant_is_refused(path: Path) -> None:
    run = open_run(path)
    key = run.keys()[0]
    with pytest.raises(MissingInputError, match="no rollout 99"):
        annotate_group(run, Kind.BOOKMARK, key, sample=99)
    with pytest.raises(InvalidInputError, match="the note is empty"):
        annotate_group(run, Kind.NOTE, key, text="  ")
    with pytest.raises(InvalidInputError, match="0 annotations"):
        take_back(run, "abc")
    assert not (path / "annotations.jsonl").exists()


def test_the_command_line_says_lists_and_undoes(path: Path) -> None:
    def hara(*options: str) -> str:
        done = CliRunner().invoke(app, ["annotate", str(path), *options])
        assert done.exit_code == 0, done.output
        return done.output

    problem = open_run(path).keys()[0].problem_id
    assert "nothing was said" in hara()
    assert "\x1b[31m" not in hara("--problem", problem, "--sample", "0", "--note", "odd\x1b[31m")
    assert "bookmark" in hara("--problem", problem[:6], "--bookmark")
    first, second = open_run(path).annotations.active
    assert (first.sample, second.sample) == (0, None)
    assert "bookmark" not in hara("--undo", second.id)
    for options, said in (
        (["--note", "x"], "--problem"),
        (["--problem", "zz", "--note", "x"], "no problem 'zz'"),
        (["--problem", "", "--note", "x"], "no problem ''"),
    ):
        done = CliRunner().invoke(app, ["annotate", str(path), *options])
        assert done.exit_code == 2 and said in " ".join(done.output.split()), done.output


def test_a_group_of_several_steps_is_named_by_its_step(tmp_path: Path) -> None:
    path = tmp_path / "run"
    places = [(0, 0), (25, 0), (25, 1)]
    with RunWriter(path, make_info()) as writer:
        for step, group in places:
            rollouts = (
                replace(make_rollout(0, s, reward=float(s)), global_step=step, group=group)
                for s in range(2)
            )
            writer.write_part([RolloutGroup(tuple(rollouts))], [])
        writer.finish()
    problem = open_run(path).keys()[0].problem_id

    def annotate(*arguments: str):
        named = ["annotate", str(path), "--problem", problem, *arguments, "--note", "look"]
        return CliRunner().invoke(app, named, env={"NO_COLOR": "1"})

    unsaid = annotate()
    assert unsaid.exit_code == 2
    assert "3 groups, step 0 group 0, step 25 group 0, step 25 group 1" in unsaid.stderr
    assert "2 groups" in annotate("--step", "25").stderr
    assert "it has step 0 group 0" in annotate("--step", "7").stderr
    assert annotate("--step", "0").exit_code == 0
    assert annotate("--step", "25", "--group", "1").exit_code == 0
    said = annotations_of(open_run(path))
    assert [(a.key.global_step, a.key.group) for a in said] == [(0, 0), (25, 1)]
