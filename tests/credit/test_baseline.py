from __future__ import annotations

import math

import pytest
import torch

from hara_viz.credit.baseline import baseline_advantages
from hara_viz.credit.config import Baseline

NAN = float("nan")


def advantages(rewards: list[float], rule: Baseline) -> list[float]:
    return baseline_advantages(torch.tensor(rewards, dtype=torch.float64), rule).tolist()


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("maxrl", [3.0, -1.0, -1.0, -1.0]),
        ("dr_grpo", [0.75, -0.25, -0.25, -0.25]),
        ("rloo", [1.0, -1 / 3, -1 / 3, -1 / 3]),
        ("grpo", [0.75 / (0.5 + 1e-4)] + [-0.25 / (0.5 + 1e-4)] * 3),
        ("grpo_verl", [0.75 / (0.5 + 1e-6)] + [-0.25 / (0.5 + 1e-6)] * 3),
    ],
)
def test_closed_form_of_one_right_in_four(rule: Baseline, expected: list[float]) -> None:
    assert advantages([1.0, 0.0, 0.0, 0.0], rule) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rule", ["grpo", "grpo_verl", "dr_grpo", "rloo", "maxrl"])
@pytest.mark.parametrize("rewards", [[0.1, 0.1, 0.1], [1.0], [NAN, NAN], [NAN, 0.3], []])
def test_no_signal_is_exactly_zero(rule: Baseline, rewards: list[float]) -> None:
    assert advantages(rewards, rule) == [0.0] * len(rewards)


@pytest.mark.parametrize("rule", ["grpo", "dr_grpo", "rloo", "maxrl"])
def test_unscored_rollouts_do_not_shift_the_others(rule: Baseline) -> None:
    with_hole = advantages([1.0, NAN, 0.0, 0.0], rule)
    without = advantages([1.0, 0.0, 0.0], rule)
    assert with_hole[1] == 0.0
    assert [with_hole[0], *with_hole[2:]] == without


def test_maxrl_with_a_mean_that_is_not_positive() -> None:
    assert advantages([-1.0, 0.0, 0.5], "maxrl") == [0.0, 0.0, 0.0]


def test_advantages_sum_to_zero() -> None:
    rewards = torch.rand(9, dtype=torch.float64)
    for rule in ("grpo", "grpo_verl", "dr_grpo", "rloo", "maxrl"):
        assert math.isclose(float(baseline_advantages(rewards, rule).sum()), 0.0, abs_tol=1e-9)
