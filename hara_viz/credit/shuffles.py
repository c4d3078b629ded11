"""Shuffled copies of a group, solved many at a time: what `null` compares with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from hara_viz.credit.batch import PackedBatch
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.novelty import ClassNovelty, hara_novelty
from hara_viz.credit.outcomes import GroupRows, group_rows
from hara_viz.credit.weights import standardise

Null = Literal["outcomes", "time"]

# Shuffled copies are made until they hold this many numbers, then solved together.
_TOGETHER = 16 * 2**20


def token_z(
    batch: PackedBatch,
    group: GroupRows,
    found: Mapping[bool, ClassNovelty],
    *,
    without_reference: float,
) -> Tensor:
    """z [N] by (7), float64 on the CPU; NaN on tokens that are in no class of the group."""
    z = torch.full((len(batch.states),), torch.nan, dtype=torch.float64)
    for success, novelty in found.items():
        index = batch.token_index(group.outcome(success)).cpu()
        transport = novelty.transport
        if transport is None:
            z[index] = without_reference
        else:
            z[index] = standardise(torch.cat(transport.costs)).cpu()
    return z


Shuffle = Callable[[PackedBatch, GroupRows, torch.Generator], tuple[PackedBatch, object]]


def _shuffle_time(
    batch: PackedBatch, group: GroupRows, generator: torch.Generator
) -> tuple[PackedBatch, object]:
    """Each rollout's states in an order of chance; its places stay."""
    order = torch.arange(len(batch.states))
    for row in group.rows:
        tokens = batch.tokens(row)
        moved = torch.randperm(batch.length(row), generator=generator)
        order[tokens] = tokens.start + moved
    return replace(batch, states=batch.states[order.to(batch.states.device)]), object()


def _shuffle_outcomes(
    batch: PackedBatch, group: GroupRows, generator: torch.Generator
) -> tuple[PackedBatch, object]:
    """The rewards of the scored rollouts with own tokens change hands; the labelling is the key."""
    rows = torch.tensor(sorted(group.success + group.failure))
    rewards = batch.rewards.clone()
    rewards[rows] = rewards[rows[torch.randperm(len(rows), generator=generator)]]
    labels = torch.isin(rewards[rows], batch.rewards[list(group.success)])
    return replace(batch, rewards=rewards), tuple(labels.tolist())


SHUFFLES: dict[Null, Shuffle] = {"outcomes": _shuffle_outcomes, "time": _shuffle_time}


def shuffled_z(
    batch: PackedBatch,
    group: GroupRows,
    config: CreditConfig,
    null: Null,
    n_shuffles: int,
    generator: torch.Generator,
) -> Iterator[tuple[Tensor, int]]:
    """z [N] of the group's tokens under each shuffle, and how many shuffles were equal to it.

    A group of eight has at most 70 labellings, so many are drawn again; none is solved again. A
    class that a shuffle leaves without a reference has z = 0, as in its weights.
    """
    alone, tokens = _only(batch, group)
    one = group_rows(alone, config)[0]
    size = max(alone.states.numel(), 1)
    drawn: dict[object, tuple[PackedBatch, int]] = {}
    for number in range(n_shuffles):
        copy, key = SHUFFLES[null](alone, one, generator)
        drawn[key] = (copy, drawn[key][1] + 1 if key in drawn else 1)
        # Copies with states of their own are not held longer than it takes to fill a batch.
        full = null == "time" and len(drawn) * size >= _TOGETHER
        if not full and number < n_shuffles - 1:
            continue
        copies, at_once = list(drawn.values()), max(_TOGETHER // size, 1)
        for start in range(0, len(copies), at_once):
            for own, times in _solved(copies[start : start + at_once], config):
                z = torch.full((len(batch.states),), torch.nan, dtype=torch.float64)
                z[tokens] = own
                yield z, times
        drawn = {}


def _solved(
    copies: list[tuple[PackedBatch, int]], config: CreditConfig
) -> Iterator[tuple[Tensor, int]]:
    joined = _joined([copy for copy, _ in copies])
    groups, n = group_rows(joined, config), len(copies[0][0].states)
    found = zip(groups, hara_novelty(joined, groups, config), copies, strict=True)
    for place, (group, novelty, (_, times)) in enumerate(found):
        z = token_z(joined, group, novelty, without_reference=0.0)
        yield z[place * n : (place + 1) * n], times


def _only(batch: PackedBatch, group: GroupRows) -> tuple[PackedBatch, Tensor]:
    """A batch of one group, and the places [n] of its tokens in the whole."""
    rows, tokens = list(group.rows), batch.token_index(group.rows)
    lengths = torch.tensor([0, *(batch.length(row) for row in rows)])
    anchors = batch.anchor_states
    alone = PackedBatch(
        states=batch.states[tokens],
        offsets=tuple(lengths.cumsum(0).tolist()),
        rewards=batch.rewards[rows],
        groups=(0,) * len(rows),
        anchor_states=None if anchors is None else anchors[rows],
    )
    return alone, tokens.cpu()


def _joined(copies: list[PackedBatch]) -> PackedBatch:
    """Copies of one group as groups 0, 1, … of one batch."""
    n, n_rows = len(copies[0].states), copies[0].n_rows
    ends = [place * n + end for place, copy in enumerate(copies) for end in copy.offsets[1:]]
    anchors = copies[0].anchor_states
    return PackedBatch(
        states=torch.cat([copy.states for copy in copies]),
        offsets=(0, *ends),
        rewards=torch.cat([copy.rewards for copy in copies]),
        groups=tuple(place for place in range(len(copies)) for _ in range(n_rows)),
        anchor_states=None if anchors is None else anchors.repeat(len(copies), 1, 1),
    )
