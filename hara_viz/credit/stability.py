"""Would another start of the solver colour a token alike? A barycenter is not unique."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from hara_viz.credit.batch import build_batch, check_signal_inputs
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.novelty import novelty_over_starts
from hara_viz.credit.outcomes import group_rows
from hara_viz.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassStability:
    """One outcome class."""

    group: int
    success: bool
    rows: tuple[int, ...]
    agreement: float
    """Spearman correlation of the tokens' novelty, mean over pairs of starts; NaN where the class
    has no reference or its novelty is constant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoveltyStability:
    """Novelty from S starts. Ranks are shares of the class: 0 the least novel token, 1 the most."""

    seeds: tuple[int, ...]
    novelty: Tensor
    """[S, N], a row for each start; NaN on tokens without a reference."""
    rank: Tensor
    """[N]: mean rank over the starts."""
    rank_low: Tensor
    """[N]: the lowest; a colour is to be believed where low and high are near each other."""
    rank_high: Tensor
    """[N]: the highest."""
    classes: tuple[ClassStability, ...]
    """By group number, correct first."""


@torch.no_grad()
def novelty_stability(
    states: Tensor,
    offsets: Tensor,
    rewards: Tensor,
    group_index: Tensor,
    config: CreditConfig | None = None,
    *,
    seeds: Sequence[int] = tuple(range(8)),
    anchor_states: Tensor | None = None,
) -> NoveltyStability:
    """Token novelty (6) from several starts of the solver, all solved in one batched call.

    Args:
        states: [N, D], as for `assign_credit_packed`; so are the others.
        offsets: [B+1].
        rewards: [B]; NaN = unscored.
        group_index: [B].
        config: Its `seed` does not matter here.
        seeds: Two or more different starts; 0 is the monotone one.
        anchor_states: [B, A, D], for prompt anchors.

    Raises:
        InvalidInputError: fewer than two different seeds, or a signal that has no starts.
        ShapeError: see `assign_credit_packed`.
    """
    config = config or CreditConfig()
    check_hara(config, "starts")
    if len(set(seeds)) != len(seeds) or len(seeds) < 2:
        raise InvalidInputError(f"seeds are {list(seeds)}; give at least two different ones")
    batch = build_batch(states, offsets, rewards, group_index, anchor_states=anchor_states)
    check_signal_inputs(batch, replace(config, granularity="token"))
    novelty = torch.full((len(seeds), len(states)), torch.nan, device=states.device)
    ranks, classes = novelty.clone(), list[ClassStability]()
    groups = group_rows(batch, config)
    for group, starts in zip(
        groups, novelty_over_starts(batch, groups, config, seeds), strict=True
    ):
        for success in starts[0]:
            rows = group.outcome(success)
            costs = [start[success].transport for start in starts]
            values = [torch.cat(found.costs) for found in costs if found is not None]
            agreement = float("nan")
            if values:
                index, own = batch.token_index(rows), torch.stack(values)
                novelty[:, index] = own
                ranks[:, index] = class_ranks(own)
                agreement = mean_agreement(own)
            classes.append(
                ClassStability(group=group.group, success=success, rows=rows, agreement=agreement)
            )
    return NoveltyStability(
        seeds=tuple(seeds),
        novelty=novelty,
        rank=ranks.mean(0),
        rank_low=ranks.amin(0),
        rank_high=ranks.amax(0),
        classes=tuple(classes),
    )


def check_hara(config: CreditConfig, what: str) -> None:
    """Raise InvalidInputError unless the signal is HarA's."""
    if config.signal != "hara":
        raise InvalidInputError(
            f'signal is "{config.signal}", which has no {what}; set signal to "hara"'
        )


def class_ranks(values: Tensor) -> Tensor:
    """Ranks [S, n] along the tokens as shares 0 … 1, ties sharing their mean; 0.5 for one token."""
    n = values.shape[1]
    ordered = values.sort(1).values
    below = torch.searchsorted(ordered, values.contiguous())
    above = torch.searchsorted(ordered, values.contiguous(), right=True)
    return ((below + above - 1) / 2 / (n - 1)) if n > 1 else torch.full_like(values, 0.5)


def mean_agreement(values: Tensor) -> float:
    """Spearman correlation of rows [S, n], mean over their pairs; NaN where it is undefined."""
    ranks = class_ranks(values).double()
    centred = ranks - ranks.mean(1, keepdim=True)
    norms = centred.norm(dim=1)
    if values.shape[1] < 2 or bool((norms == 0).any()):
        return float("nan")
    unit = centred / norms[:, None]
    pairs = list(itertools.combinations(range(len(values)), 2))
    return float(sum(float(unit[i] @ unit[j]) for i, j in pairs)) / len(pairs)
