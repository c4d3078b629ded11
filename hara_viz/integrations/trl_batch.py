"""A generation batch of TRL's as plain rows, padding removed. Knows the shapes of TRL's tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hara_viz.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Scored:
    """What TRL hands to its reward functions, and what they answered."""

    examples: Sequence[Mapping[str, Any]]
    """Rows of the dataset, one per own row."""
    prompts: Sequence[Any]
    """Strings, or lists of messages."""
    completion_ids: Sequence[Sequence[int]]
    """Ids without padding, tool output included."""
    rewards_per_func: Tensor
    """[world_size · B, n_funcs], NaN = that function did not score the row."""


@dataclass(frozen=True, slots=True)
class GeneratedBatch:
    """B rollouts of this process."""

    scored: Scored
    prompt_ids: list[list[int]]
    mask: Tensor
    """[B, C] bool: tokens that enter the loss."""
    baseline: Tensor
    """[B] TRL's own advantages."""

    @property
    def completion_ids(self) -> list[list[int]]:
        """Ids of each completion, all its tokens."""
        return [list(ids) for ids in self.scored.completion_ids]

    def own(self, row: int) -> Tensor:
        """Which of a completion's tokens enter the loss, [T_r] bool."""
        return self.mask[row, : len(self.scored.completion_ids[row])]


def read_batch(batch: Mapping[str, Tensor], scored: Scored) -> GeneratedBatch:
    """Rows of what `_generate_and_score_completions` returned.

    Raises:
        InvalidInputError: the prompts hold images, whose states are not read yet.
    """
    if "pixel_values" in batch:
        raise InvalidInputError(
            "the prompts hold images; HarA reads states of text alone so far: train a text model, "
            "or use TRL's own GRPOTrainer"
        )
    mask = batch["completion_mask"].bool()
    if "tool_mask" in batch:
        mask = mask & batch["tool_mask"].bool()
    prompts = zip(batch["prompt_ids"], batch["prompt_mask"].bool(), strict=True)
    return GeneratedBatch(
        scored, [ids[kept].tolist() for ids, kept in prompts], mask, batch["advantages"]
    )


def outcome_rewards(
    scored: Scored, weights: Tensor, names: Sequence[str], outcome_reward: str | None
) -> Tensor:
    """[world_size · B] float64: what decides right or wrong; NaN where nothing scored a row.

    Args:
        scored: the functions' values.
        weights: [n_funcs] TRL's reward weights.
        names: of the functions.
        outcome_reward: the function that decides; None: the weighted sum, as TRL takes it.
    """
    values = scored.rewards_per_func.double()
    if outcome_reward is not None:
        return values[:, names.index(outcome_reward)]
    total = (values * weights.to(values)).nansum(dim=1)
    return torch.where(values.isnan().all(dim=1), torch.nan, total)


def check_outcome_reward(names: Sequence[str], outcome_reward: str | None) -> None:
    """Refuse the name of a reward function that the trainer does not have.

    Raises:
        InvalidInputError: it does not.
    """
    if outcome_reward is not None and outcome_reward not in names:
        raise InvalidInputError(
            f"outcome_reward is {outcome_reward!r}; the trainer has the reward functions "
            f"{', '.join(names)}"
        )
