"""Credit from a run: the same numbers as a trainer gets, kept and found again."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from hara_viz.backend.credit import (
    GroupCredit,
    credit_group,
    credit_of,
    credit_run,
    default_config,
)
from hara_viz.backend.score import score_run
from hara_viz.credit import CreditConfig, assign_credit_packed
from hara_viz.errors import InvalidInputError
from hara_viz.store import Run, list_credit, load_credit, open_run
from hara_viz.types import HiddenStates, Progress, RolloutGroup
from tests.small_runs import LAYERS, PENS, PENS_TEXTS, group_of, states_of

PENS_GROUP = group_of(PENS, PENS_TEXTS)


@pytest.fixture
def copy(small_run: Path, tmp_path: Path) -> Run:
    return open_run(shutil.copytree(small_run, tmp_path / "run"))


def test_it_is_what_a_trainer_gets(small_run: Path) -> None:
    run = open_run(small_run)
    key = run.keys()[0]
    found = credit_group(run, key)
    states = run.load_states(key, max(LAYERS))
    assert states is not None
    direct = assign_credit_packed(
        states.states, states.offsets, found.group.rewards, torch.zeros(6, dtype=torch.int64)
    )
    assert torch.equal(found.credit.advantages, direct.advantages)
    assert torch.equal(found.credit.baseline, direct.baseline)
    assert found.layer == max(LAYERS)
    rewards = found.group.rewards
    by_hand = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    assert torch.allclose(found.credit.baseline.double(), by_hand, atol=1e-5)


def test_rows_are_cut_where_rollouts_end(small_run: Path) -> None:
    run = open_run(small_run)
    found = credit_group(run, run.keys()[0])
    lengths = [len(found.of_row(found.credit.weights, row)) for row in range(len(found.group))]
    assert lengths == [len(rollout.completion_ids) for rollout in found.group.rollouts]
    for row in range(len(found.group)):  # each rollout keeps its total advantage
        mean = float(found.of_row(found.credit.weights, row).mean())
        assert mean == pytest.approx(1.0, abs=1e-4)


def masked(group: RolloutGroup, n: int) -> RolloutGroup:
    """The group with the first n tokens of each rollout put in by a tool."""
    return RolloutGroup(
        tuple(
            replace(r, sampled_mask=tuple(t >= n for t in range(len(r.completion_ids))))
            for r in group.rollouts
        )
    )


def test_tokens_that_the_policy_did_not_sample_have_no_part_in_it() -> None:
    group, states = masked(PENS_GROUP, 2), states_of(PENS_GROUP, 4)
    found = credit_of(group, states, CreditConfig())
    cut = RolloutGroup(
        tuple(
            replace(
                r,
                completion_ids=r.completion_ids[2:],
                sampled_mask=None,
                cell_start=None,
                reasoning_step=None,
                logprobs=None,
                entropy=None,
            )
            for r in group.rollouts
        )
    )
    rows = [states.rows(b)[2:] for b in range(len(cut))]
    lengths = torch.tensor([0, *(len(row) for row in rows)])
    alone = credit_of(
        cut,
        HiddenStates(states=torch.cat(rows), offsets=lengths.cumsum(0), layer=4, after_norm=True),
        CreditConfig(),
    )
    assert_equal_but_for_head(found, alone, 2)


def assert_equal_but_for_head(found: GroupCredit, alone: GroupCredit, head: int) -> None:
    for name in ("advantages", "weights", "novelty", "novelty_feature", "novelty_structure"):
        full, short = getattr(found.credit, name), getattr(alone.credit, name)
        for row in range(len(found.group)):
            values = found.of_row(full, row)
            assert not values[:head].any()
            assert torch.equal(values[head:], alone.of_row(short, row))


@pytest.mark.parametrize("granularity", ["step", {"token": 0.5, "step": 0.3, "rollout": 0.2}])
def test_steps_come_from_the_run(small_run: Path, granularity: object) -> None:
    run = open_run(small_run)
    config = CreditConfig(granularity=granularity)  # pyright: ignore[reportArgumentType]
    found = credit_group(run, run.keys()[0], config)
    if granularity == "step":
        rollout = found.group.rollouts[0]
        weights = found.of_row(found.credit.weights, 0).tolist()
        by_step = dict(zip(rollout.reasoning_step or (), weights, strict=True))
        assert len(set(by_step.values())) > 1
        assert all(
            by_step[s] == w for s, w in zip(rollout.reasoning_step or (), weights, strict=True)
        )


def test_without_states_only_signals_that_need_none_work(small_runs: Path) -> None:
    run = open_run(small_runs / "no-states")
    key = run.keys()[0]
    with pytest.raises(InvalidInputError, match="hara-viz states"):
        credit_group(run, key)
    with pytest.raises(InvalidInputError, match="hara-viz states"):
        credit_run(run)
    assert not (run.path / "credit").exists()
    found = credit_group(run, key, CreditConfig(signal="entropy"))
    assert found.layer is None
    assert float(found.credit.weights.std()) > 0


def test_states_of_some_rollouts_are_not_enough() -> None:
    states = states_of(PENS_GROUP, 4)
    first = len(PENS_GROUP.rollouts[0].completion_ids)
    offsets = torch.where(states.offsets > 0, states.offsets - first, 0)
    partial = HiddenStates(states=states.states[first:], offsets=offsets, layer=4, after_norm=True)
    with pytest.raises(InvalidInputError, match="some of its rollouts only"):
        credit_of(PENS_GROUP, partial, CreditConfig())


def test_the_threshold_is_the_runs_own(small_run: Path) -> None:
    run = open_run(small_run)
    assert default_config(run) == CreditConfig(success_threshold=run.info.success_threshold)


def test_a_run_keeps_what_it_computed(copy: Run) -> None:
    said: list[Progress] = []
    fingerprint = credit_run(copy, report=said.append)
    assert [(p.done, p.total) for p in said] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    again = open_run(copy.path)
    for key in again.keys():  # noqa: SIM118
        kept = load_credit(again, fingerprint, key)
        assert kept is not None
        assert torch.equal(kept.advantages, credit_group(again, key).credit.advantages)
    assert set(again.summaries()["credit"]) == {fingerprint}
    # Nothing is computed twice, and another config is kept beside it.
    said.clear()
    assert credit_run(again, report=said.append) == fingerprint
    assert [(p.done, p.total) for p in said] == [(3, 3)]
    other = credit_run(again, CreditConfig(alpha=0.2))
    assert {info.fingerprint for info in list_credit(again)} == {fingerprint, other}


def test_new_rewards_are_new_credit(copy: Run) -> None:
    first = credit_run(copy)
    score_run(copy, "exact")
    scored = open_run(copy.path)
    assert credit_run(scored) != first


def test_a_config_that_fails_leaves_nothing_behind(copy: Run) -> None:
    before = sorted(copy.path.rglob("*"))
    with pytest.raises(InvalidInputError):
        credit_run(copy, CreditConfig(anchors="prompt", structure="state"))
    assert sorted(copy.path.rglob("*")) == before
