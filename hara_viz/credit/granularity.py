"""Token, step, rollout: novelty of a coarser element, and mixes of levels (method §6)."""

from __future__ import annotations

import torch
from torch import Tensor

from hara_viz.credit.batch import PackedBatch
from hara_viz.credit.config import CreditConfig, Level
from hara_viz.credit.weights import standardise


def mixed_z(
    novelty: Tensor, batch: PackedBatch, rows: tuple[int, ...], config: CreditConfig
) -> Tensor:
    """z [n] float64 of a class's tokens: each level standardised by (7), then mixed."""
    z = torch.zeros(len(novelty), dtype=torch.float64, device=novelty.device)
    for level, share in config.shares().items():
        z += share * standardise(at_level(novelty, batch, rows, level))
    return z


def at_level(novelty: Tensor, batch: PackedBatch, rows: tuple[int, ...], level: Level) -> Tensor:
    """Each token gets the mean novelty of the element that holds it: [n] float64.

    The mass-weighted mean inside a rollout is the plain mean, as its tokens weigh alike.
    """
    novelty = novelty.double()
    if level == "token":
        return novelty
    elements = batch.segments(rows)
    if level == "step":
        assert batch.reasoning_step is not None  # checked at the door
        steps = batch.reasoning_step[batch.token_index(rows)].long().to(novelty.device)
        pairs = torch.stack([elements, steps], 1)
        elements = torch.unique(pairs, dim=0, return_inverse=True)[1]
    count = torch.bincount(elements).to(novelty)
    total = torch.zeros_like(count).index_add_(0, elements, novelty)
    return (total / count)[elements]
