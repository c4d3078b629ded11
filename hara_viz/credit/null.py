"""Is a span more novel than chance would have it? Two nulls, by shuffling and solving again.

    outcomes  who was right is shuffled among the rollouts of a group. Answers: is the span novel
              *for its outcome*, or would it be so in any company? Blind to what is odd everywhere.
    time      each rollout's states are shuffled over its places. Answers: does this stretch hold
              more novelty than as many tokens of the same rollout drawn at random? Novelty that
              comes in clumps, as stages of reasoning make it, is found too: that is no error.

A group of eight has at most 70 labellings, so p of "outcomes" is hardly below 1 / 70, and no span
out of many can be a discovery at a small rate: read its p, span by span, or give larger groups.

The statistic of a span is the mean z of its tokens, z as in (7): what weights are made of. With m
of S shuffles at least as high as what was seen, p = (1 + m) / (S + 1), which is valid for any S
(Phipson & Smyth 2010, doi 10.2202/1544-6115.1585). q-values control the rate of false discoveries
over all spans of the call (Benjamini & Hochberg 1995, doi 10.1111/j.2517-6161.1995.tb02031.x).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import torch
from torch import Tensor

from hara_viz.credit.batch import PackedBatch, build_batch, check_signal_inputs
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.novelty import hara_novelty
from hara_viz.credit.outcomes import GroupRows, group_rows
from hara_viz.credit.shuffles import Null, shuffled_z, token_z
from hara_viz.credit.stability import check_hara
from hara_viz.errors import ShapeError
from hara_viz.ot.config import check_at_least, check_choice


@dataclass(frozen=True, slots=True, kw_only=True)
class NoveltyNull:
    """M spans against their null."""

    rows: Tensor
    """[M] row of the batch."""
    numbers: Tensor
    """[M] the span's number within its row."""
    statistic: Tensor
    """[M] mean z of the span's tokens; NaN where its class has no reference."""
    expected: Tensor
    """[M] its mean over the shuffles."""
    p: Tensor
    """[M]; NaN where there is nothing to shuffle or to compare with."""
    q: Tensor
    """[M] Benjamini-Hochberg over the spans that have a p: the least rate of false discoveries at
    which the span is one."""
    n_shuffles: int
    smallest_p: float
    """The least p that so many shuffles can show."""


@torch.no_grad()
def novelty_null(
    states: Tensor,
    offsets: Tensor,
    rewards: Tensor,
    group_index: Tensor,
    config: CreditConfig | None = None,
    *,
    spans: Tensor,
    null: Null = "outcomes",
    n_shuffles: int = 199,
    seed: int = 0,
    anchor_states: Tensor | None = None,
) -> NoveltyNull:
    """p and q of every span's novelty under a null; shuffles are solved many at a time.

    Args:
        states: [N, D], as for `assign_credit_packed`; so are the others.
        offsets: [B+1].
        rewards: [B]; NaN = unscored: their spans have no p.
        group_index: [B].
        config: The choices; signal "hara".
        spans: [N] int, spans numbered within a row (reasoning steps); negative = in none. They must
            not be chosen by their novelty, or p is too small.
        null: What is shuffled.
        n_shuffles: S ≥ 1; with M spans, a single discovery at rate q takes S of about M / q.
        seed: Of the shuffles.
        anchor_states: [B, A, D], for prompt anchors.

    Raises:
        ConfigError: an unknown null, n_shuffles below 1.
        InvalidInputError: another signal than HarA's.
        ShapeError: spans that do not fit, and see `assign_credit_packed`.
    """
    config = config or CreditConfig()
    check_hara(config, "null")
    check_choice("null", null, get_args(Null))
    check_at_least("n_shuffles", n_shuffles, 1)
    if spans.shape != states.shape[:1]:
        raise ShapeError(f"spans: got {tuple(spans.shape)}, expected one of {len(states)} tokens")
    batch = build_batch(states, offsets, rewards, group_index, anchor_states=anchor_states)
    check_signal_inputs(batch, replace(config, granularity="token"))
    elements = _Elements.build(batch, spans)
    seen = torch.full((elements.n,), torch.nan, dtype=torch.float64)
    sums, higher = torch.zeros_like(seen), torch.zeros_like(seen)
    generator = torch.Generator().manual_seed(seed)
    for group in group_rows(batch, config):
        if null == "outcomes" and not (group.success and group.failure):
            continue  # every labelling is the same: there is nothing to shuffle
        mine = elements.of(group)
        found = next(hara_novelty(batch, [group], config))
        z = token_z(batch, group, found, without_reference=float("nan"))
        seen[mine] = elements.means(z)[mine]
        for z, times in shuffled_z(batch, group, config, null, n_shuffles, generator):
            value = elements.means(z)[mine]
            sums[mine] += times * value
            higher[mine] += times * (value >= seen[mine])
    unknown = seen.isnan()
    p = ((1 + higher) / (n_shuffles + 1)).masked_fill(unknown, torch.nan)
    return NoveltyNull(
        rows=elements.rows,
        numbers=elements.numbers,
        statistic=seen,
        expected=(sums / n_shuffles).masked_fill(unknown, torch.nan),
        p=p,
        q=benjamini_hochberg(p),
        n_shuffles=n_shuffles,
        smallest_p=1 / (n_shuffles + 1),
    )


def benjamini_hochberg(p: Tensor) -> Tensor:
    """q_i = min over j with p_j ≥ p_i of p_j M / rank_j: [M], ≤ 1; NaN stays and is no test."""
    known = ~p.isnan()
    values, order = p[known].sort()
    ranks = torch.arange(1, len(values) + 1, dtype=p.dtype)
    scaled = values * len(values) / ranks
    q = torch.full_like(p, torch.nan)
    if len(values):
        q[known.nonzero()[:, 0][order]] = scaled.flip(0).cummin(0).values.flip(0).clamp(max=1.0)
    return q


@dataclass(frozen=True, slots=True)
class _Elements:
    """The spans, as elements that tokens belong to."""

    index: Tensor
    """[N] element of each token; −1: none."""
    rows: Tensor
    numbers: Tensor

    @property
    def n(self) -> int:
        return len(self.rows)

    @staticmethod
    def build(batch: PackedBatch, spans: Tensor) -> _Elements:
        rows = batch.segments(tuple(range(batch.n_rows))).cpu()
        pairs = torch.stack([rows, spans.long().cpu()], 1)
        inside = pairs[:, 1] >= 0
        known, place = torch.unique(pairs[inside], dim=0, return_inverse=True)
        index = torch.full((len(rows),), -1, dtype=torch.long)
        index[inside] = place
        return _Elements(index, known[:, 0], known[:, 1])

    def of(self, group: GroupRows) -> Tensor:
        """Which lie in a group: [M] bool."""
        return torch.isin(self.rows, torch.tensor(group.rows, dtype=torch.long))

    def means(self, values: Tensor) -> Tensor:
        """Mean over each span's tokens of [N] float64; NaN where one is unknown."""
        inside = self.index >= 0
        index = self.index[inside]
        total = torch.zeros(self.n, dtype=torch.float64).index_add_(0, index, values[inside])
        return total / torch.bincount(index, minlength=self.n)
