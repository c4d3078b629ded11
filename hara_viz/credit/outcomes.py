"""Groups and their outcome classes: who is compared with whom."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hara_viz.credit.batch import PackedBatch
from hara_viz.credit.config import CreditConfig


@dataclass(frozen=True, slots=True)
class GroupRows:
    """Rows of one group, sorted by what is known of them."""

    group: int
    rows: tuple[int, ...]
    scored: tuple[int, ...]
    """With a reward, own tokens or not."""
    success: tuple[int, ...]
    """Correct, with own tokens."""
    failure: tuple[int, ...]
    """Incorrect, with own tokens."""

    def outcome(self, success: bool) -> tuple[int, ...]:
        """Rows of that outcome class."""
        return self.success if success else self.failure


def is_success(reward: float, config: CreditConfig) -> bool:
    """The outcome of a scored rollout."""
    return reward >= config.success_threshold


def group_rows(batch: PackedBatch, config: CreditConfig) -> list[GroupRows]:
    """Groups by number; their rows in the order of the batch."""
    rewards = batch.rewards.tolist()
    groups: list[GroupRows] = []
    for group in sorted(set(batch.groups)):
        rows = tuple(r for r in range(batch.n_rows) if batch.groups[r] == group)
        scored = tuple(r for r in rows if not math.isnan(rewards[r]))
        own = [r for r in scored if batch.length(r) > 0]
        success = tuple(r for r in own if is_success(rewards[r], config))
        failure = tuple(r for r in own if not is_success(rewards[r], config))
        groups.append(GroupRows(group, rows, scored, success, failure))
    return groups
