"""Rows of a trainer's batch → `assign_credit_packed` → the same rows. Knows no trainer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import torch
from torch import Tensor

from hara_viz.credit import Credit, CreditConfig, assign_credit_packed
from hara_viz.integrations.shared_groups import Deal, exchange_all

NEEDS_STATES = frozenset({"hara", "shear"})
"""The signals that read hidden states."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditInputs:
    """Per-token inputs of this process's rows: one tensor over a row's own tokens each."""

    states: Sequence[Tensor] | None = None
    """[T_r, D] in the dtype that a run stores, so that credit can be computed again from disk."""
    reasoning_step: Sequence[Tensor] | None = None
    logprobs: Sequence[Tensor] | None = None
    entropy: Sequence[Tensor] | None = None

    def given(self) -> dict[str, Sequence[Tensor]]:
        """The kinds of values that are there."""
        names = ("states", "reasoning_step", "logprobs", "entropy")
        return {name: rows for name in names if (rows := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCredit:
    """Credit of this process's rows."""

    credit: Credit
    """Of all needed rows, packed over their own tokens."""
    offsets: tuple[int, ...]
    """Of `credit`: needed row i owns tokens offsets[i] : offsets[i+1]."""
    first: int
    """Where this process's rows begin among the needed ones."""
    n_local: int

    def of_rows(self, values: Tensor) -> list[Tensor]:
        """A packed tensor of `credit` as one [T_r] per own row."""
        rows = range(self.first, self.first + self.n_local)
        return [values[self.offsets[i] : self.offsets[i + 1]] for i in rows]


def credit_rows(
    inputs: CreditInputs,
    lengths: Sequence[int],
    rewards: Tensor,
    baseline: Tensor,
    deal: Deal,
    config: CreditConfig,
) -> RowCredit:
    """Credit of this process's rows; groups shared with others are completed first.

    Args:
        inputs: of the own rows.
        lengths: [world_size · n_local] own tokens of all rows.
        rewards: [world_size · n_local] what decides the outcome; NaN = unscored.
        baseline: [world_size · n_local] the trainer's own A_r.
        deal: who holds which rows.
        config: the choices.
    """
    values = exchange_all(inputs.given(), lengths, deal)
    rows = list(deal.needed_rows)

    def packed(name: str) -> Tensor | None:
        return torch.cat([values[name][row] for row in rows]) if name in values else None

    states = packed("states")
    counts = [lengths[row] for row in rows]
    if states is None:  # a signal that reads none
        states = torch.zeros(sum(counts), 1, device=rewards.device)
    offsets = (0, *accumulate(counts))
    credit = assign_credit_packed(
        states,
        torch.tensor(offsets),
        rewards[rows],
        torch.tensor([deal.group_of(row) for row in rows]),
        config,
        reasoning_step=packed("reasoning_step"),
        logprobs=packed("logprobs"),
        entropy=packed("entropy"),
        baseline_advantages=baseline[rows],
    )
    first = deal.own_rows.start - deal.needed_rows.start
    return RowCredit(credit=credit, offsets=offsets, first=first, n_local=deal.n_local)


def pad_rows(rows: Sequence[Tensor], mask: Tensor) -> Tensor:
    """One [T_r] per row → [B, C] float32, 0 where `mask` [B, C] is False.

    Row r has as many values as its mask has True entries, in order.
    """
    padded = torch.zeros(mask.shape, dtype=torch.float32, device=mask.device)
    return padded.masked_scatter_(mask, torch.cat(list(rows)).to(padded))
