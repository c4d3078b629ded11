"""One advantage A_r per rollout from the rewards of its group (method §7).

A group of one and a group of equal rewards give exactly 0: float rounding over a tiny standard
deviation is not zero, so equality is tested, not divided.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from hara_viz.credit.config import Baseline


def baseline_advantages(rewards: Tensor, rule: Baseline) -> Tensor:
    """A [G] of one group; unscored rollouts (NaN) are left out of every statistic and get 0.

    Args:
        rewards: [G] float64, NaN = unscored.
        rule: see the functions below.
    """
    advantages = torch.zeros_like(rewards)
    scored = ~torch.isnan(rewards)
    values = rewards[scored]
    if len(values) < 2 or bool(values.max() == values.min()):
        return advantages
    advantages[scored] = _RULES[rule](values)
    return advantages


def _grpo(rewards: Tensor) -> Tensor:
    """(r − mean) / (std + 1e-4), std with ddof 1: TRL's convention."""
    return (rewards - rewards.mean()) / (rewards.std(correction=1) + 1e-4)


def _grpo_verl(rewards: Tensor) -> Tensor:
    """(r − mean) / (std + 1e-6), std with ddof 1: verl's convention."""
    return (rewards - rewards.mean()) / (rewards.std(correction=1) + 1e-6)


def _dr_grpo(rewards: Tensor) -> Tensor:
    """r − mean."""
    return rewards - rewards.mean()


def _rloo(rewards: Tensor) -> Tensor:
    """r − mean of the others."""
    return rewards - (rewards.sum() - rewards) / (len(rewards) - 1)


def _maxrl(rewards: Tensor) -> Tensor:
    """(r − mean) / mean; 0 when the mean is not positive."""
    mean = rewards.mean()
    return (rewards - mean) / mean if mean > 0 else torch.zeros_like(rewards)


_RULES: dict[Baseline, Callable[[Tensor], Tensor]] = {
    "grpo": _grpo,
    "grpo_verl": _grpo_verl,
    "dr_grpo": _dr_grpo,
    "rloo": _rloo,
    "maxrl": _maxrl,
}
