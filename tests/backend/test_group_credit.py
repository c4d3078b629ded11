"""Credit of a group in memory: several rewards solved together give what each gives alone."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest
import torch

from hara_viz.backend.group_credit import GroupCredit, credit_of, credit_under_rewards
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.store import open_run
from hara_viz.types import GroupKey, HiddenStates, RolloutGroup
from tests.small_runs import PENS

REWARDS = ([1, 1, 1, 0, 0, 0], [1, 0, 1, 0, 1, 0], [0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1])
CONFIGS = (
    CreditConfig(),
    CreditConfig(granularity="step"),
    CreditConfig(reference="opposite_outcome"),
    CreditConfig(signal="entropy"),
)


@pytest.fixture
def group(small_run: Path) -> RolloutGroup:
    return open_run(small_run).load_group(GroupKey(None, PENS.problem_id, 0))


@pytest.fixture
def states(small_run: Path, group: RolloutGroup) -> HiddenStates:
    found = open_run(small_run).load_states(group.key, 4)
    assert found is not None
    return found


def rewarded(group: RolloutGroup, rewards: list[int]) -> RolloutGroup:
    pairs = zip(group.rollouts, rewards, strict=True)
    return RolloutGroup(tuple(replace(rollout, reward=float(x)) for rollout, x in pairs))


def assert_equal(found: GroupCredit, expected: GroupCredit) -> None:
    for field in fields(found.credit):
        one, other = getattr(found.credit, field.name), getattr(expected.credit, field.name)
        if isinstance(one, torch.Tensor):
            assert torch.equal(one, other), field.name
        elif field.name == "diagnostics":
            assert one == other
    for one, other in zip(found.credit.outcomes, expected.credit.outcomes, strict=True):
        assert (one.group, one.success, one.rows) == (other.group, other.success, other.rows)
        assert (one.converged, one.iterations) == (other.converged, other.iterations)
        pairs = zip(one.plans, other.plans, strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda c: f"{c.signal}-{c.reference}")
def test_together_as_alone(group: RolloutGroup, states: HiddenStates, config: CreditConfig) -> None:
    rewards = [torch.tensor(each, dtype=torch.float32) for each in REWARDS]
    together = credit_under_rewards(group, states, config, rewards)
    for found, each in zip(together, REWARDS, strict=True):
        assert_equal(found, credit_of(rewarded(group, each), states, config))


def test_tokens_that_were_not_sampled_stay_at_zero(
    group: RolloutGroup, states: HiddenStates
) -> None:
    first = group.rollouts[0]
    mask = tuple(place >= 2 for place in range(len(first.completion_ids)))
    masked = RolloutGroup((replace(first, sampled_mask=mask), *group.rollouts[1:]))
    rewards = [torch.tensor(each, dtype=torch.float32) for each in REWARDS[:2]]
    for found, each in zip(
        credit_under_rewards(masked, states, CreditConfig(), rewards), REWARDS, strict=False
    ):
        assert not found.credit.novelty[:2].any() and found.credit.novelty[2:].any()
        assert_equal(found, credit_of(rewarded(masked, each), states, CreditConfig()))


def test_no_rewards_no_credit(group: RolloutGroup, states: HiddenStates) -> None:
    assert credit_under_rewards(group, states, CreditConfig(), []) == []


def test_states_of_some_rollouts_only_are_refused(
    group: RolloutGroup, states: HiddenStates
) -> None:
    offsets = (states.offsets - states.offsets[1]).clamp_min(0)
    part = replace(states, states=states.states[int(states.offsets[1]) :], offsets=offsets)
    with pytest.raises(InvalidInputError, match="some of its rollouts"):
        credit_of(group, part, CreditConfig())
