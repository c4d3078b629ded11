"""The shipped checkpoints and runs: complete, small, and worth looking at."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch

from examples.demo.rl import METHODS
from examples.make_demo import ASSETS, trained
from hara_viz.rewards import RewardPool
from hara_viz.store import open_run

MEGABYTE = 1_000_000
CHECKPOINTS = ASSETS / "checkpoints"


def runs_of(method: str) -> list[Path]:
    return sorted((ASSETS / "runs").glob(f"{method}-*"))


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def groups() -> pd.DataFrame:
    frames = [open_run(path).summaries() for method in METHODS for path in runs_of(method)]
    return pd.concat(frames, ignore_index=True)


def test_half_of_the_groups_have_two_right_and_two_wrong(groups: pd.DataFrame) -> None:
    n_wrong = groups["n_scored"] - groups["n_success"]
    assert (groups["n_scored"] == groups["n_rollouts"]).all()
    assert ((groups["n_success"] >= 2) & (n_wrong >= 2)).mean() >= 0.5


@pytest.mark.parametrize("method", METHODS)
def test_a_series_is_complete_and_its_pass_rate_rises(method: str) -> None:
    runs = [open_run(path) for path in runs_of(method)]
    steps = [run.info.global_step for run in runs]
    assert len(runs) >= 5
    assert steps == sorted(set(steps), key=int) and steps[0] == 0
    assert {run.info.series.id for run in runs} == {f"demo-{method}"}
    assert all(run.complete for run in runs)
    rates = [run.summaries()["pass_rate"].mean() for run in runs]
    assert rates[-1] > rates[0] + 0.1


@pytest.mark.parametrize("method", METHODS)
def test_every_run_names_the_checkpoint_it_came_from(method: str) -> None:
    found = [(step, path.name) for step, path in trained(CHECKPOINTS, method)]
    shown = [
        (run.info.global_step, Path(run.info.checkpoint.path).name)
        for run in map(open_run, runs_of(method))
    ]
    assert shown == found
    paths = [open_run(path).info.checkpoint.path for path in runs_of(method)]
    assert not any(Path(path).is_absolute() for path in paths)


def test_the_states_of_a_shipped_group_are_there() -> None:
    run = open_run(runs_of("hara")[-1])
    key = run.keys()[0]
    group, states = run.load_group(key), run.load_states(key, run.layers[0])
    assert states is not None
    assert len(states.offsets) == len(group) + 1
    lengths = torch.tensor([len(rollout.completion_ids) for rollout in group.rollouts])
    assert torch.equal(states.offsets.diff(), lengths)


def test_the_verifiers_agree_on_the_shipped_texts() -> None:
    run = open_run(runs_of("grpo")[-1])
    rollouts = [r for key in run.keys()[:6] for r in run.load_group(key).rollouts]
    items = [(r.completion_text.removesuffix("<|end|>"), r.gold) for r in rollouts]
    with RewardPool("number") as pool:
        judged = [judgement.reward for judgement in pool.judge(items)]
    assert judged == [r.reward for r in rollouts]


def test_the_assets_are_small() -> None:
    assert size_of(ASSETS) <= 40 * MEGABYTE
    assert size_of(CHECKPOINTS) <= 25 * MEGABYTE
    for method in METHODS:
        for _, folder in trained(CHECKPOINTS, method):
            assert size_of(folder) <= 4 * MEGABYTE
