from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from hara_viz.analysis.ranks import spearman
from hara_viz.credit import CreditConfig, assign_credit_packed
from hara_viz.credit.stability import class_ranks, mean_agreement, novelty_stability
from hara_viz.errors import HaraError
from tests.ot.planted import clustered_rollouts

NAN = float("nan")
LENGTHS = [24, 31, 28, 22, 35, 27]


def batch(rewards: list[float], noise: float = 0.4) -> dict[str, Tensor]:
    features, _ = clustered_rollouts(LENGTHS, noise=noise)
    return {
        "states": torch.cat(features),
        "offsets": torch.tensor([0, *LENGTHS]).cumsum(0),
        "rewards": torch.tensor(rewards),
        "group_index": torch.zeros(len(LENGTHS), dtype=torch.long),
    }


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reference": "leave_one_out"},
        {"reference": "opposite_outcome"},
        {"reference": "group", "refine": 2},
        {"solver": "exact"},
    ],
)
def test_each_start_is_the_credit_of_that_seed(options: dict[str, Any]) -> None:
    inputs = batch([1.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    config = CreditConfig(**options)
    found = novelty_stability(**inputs, config=config, seeds=(0, 3))
    for row, seed in enumerate((0, 3)):
        alone = assign_credit_packed(**inputs, config=CreditConfig(**options, seed=seed))
        assert torch.equal(found.novelty[row], alone.novelty)


def test_the_configs_own_seed_does_not_matter() -> None:
    inputs = batch([1.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    one = novelty_stability(**inputs, config=CreditConfig(seed=5), seeds=(0, 1))
    assert torch.equal(one.novelty, novelty_stability(**inputs, seeds=(0, 1)).novelty)


def test_ranks_and_agreement_by_hand() -> None:
    inputs = batch([1.0, 1.0, 1.0, 0.0, 0.0, 1.0])
    found = novelty_stability(**inputs, seeds=(0, 1, 2))
    assert [c.success for c in found.classes] == [True, False]
    wrong = found.novelty[:, 83:140]  # rows 3 and 4
    ranks = torch.stack([v.argsort().argsort() / (len(v) - 1) for v in wrong])
    torch.testing.assert_close(found.rank[83:140], ranks.mean(0))
    torch.testing.assert_close(found.rank_low[83:140], ranks.amin(0))
    torch.testing.assert_close(found.rank_high[83:140], ranks.amax(0))
    pairs = [spearman(wrong[i].numpy(), wrong[j].numpy()) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert found.classes[1].agreement == pytest.approx(sum(map(float, map(str, pairs))) / 3)


def test_sharp_patterns_are_more_stable_than_noise() -> None:
    rewards = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    features, _ = clustered_rollouts(LENGTHS, noise=0.05)
    sharp = batch(rewards) | {"states": torch.cat(features)}
    generator = torch.Generator().manual_seed(0)
    sharp["states"][40] = 4 * torch.randn(16, generator=generator)  # one token of its own
    found = novelty_stability(**sharp)
    noise = batch(rewards) | {"states": torch.randn(sum(LENGTHS), 16, generator=generator)}
    assert found.rank_low[40] > 0.99
    assert found.classes[0].agreement > novelty_stability(**noise).classes[0].agreement


def test_unscored_and_lone_rollouts_are_unknown_not_zero() -> None:
    found = novelty_stability(**batch([1.0, NAN, 0.0, 0.0, 0.0, 0.0]), seeds=(0, 1))
    assert bool(found.novelty[:, :55].isnan().all() & found.rank[:55].isnan().all())
    assert bool(found.novelty[:, 55:].isfinite().all() & found.rank[55:].isfinite().all())
    lone, rest = found.classes
    assert lone.success and lone.agreement != lone.agreement and rest.agreement == rest.agreement


def test_constant_novelty_has_no_agreement() -> None:
    inputs = batch([1.0] * 6)
    inputs["states"] = torch.ones(sum(LENGTHS), 4)
    found = novelty_stability(**inputs, config=CreditConfig(alpha=0.0), seeds=(0, 1))
    assert found.classes[0].agreement != found.classes[0].agreement
    torch.testing.assert_close(found.rank, torch.full_like(found.rank, 0.5))


def test_ranks_share_ties() -> None:
    ranks = class_ranks(torch.tensor([[3.0, 1.0, 3.0, 2.0]]))
    torch.testing.assert_close(ranks, torch.tensor([[2.5, 0.0, 2.5, 1.0]]) / 3)
    assert class_ranks(torch.tensor([[3.0]])).tolist() == [[0.5]]
    assert mean_agreement(torch.tensor([[1.0, 2, 3], [30.0, 20, 10]])) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"seeds": (0,)}, "at least two"),
        ({"seeds": (1, 1)}, "at least two"),
        ({"config": CreditConfig(signal="position")}, 'signal is "position"'),
        ({"config": CreditConfig(structure="state", anchors="prompt")}, "anchor_states"),
    ],
)
def test_what_cannot_be_answered_is_said(options: dict[str, Any], named: str) -> None:
    with pytest.raises(HaraError, match=named):
        novelty_stability(**batch([1.0] * 6), **options)
