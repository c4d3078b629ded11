"""Rival credit signals (method §8): each takes the place of novelty in (7)."""

from __future__ import annotations

import torch
from torch import Tensor

from hara_viz.credit.batch import PackedBatch
from hara_viz.credit.config import CreditConfig
from hara_viz.credit.outcomes import GroupRows
from hara_viz.credit.states import class_states, group_center
from hara_viz.ot.spans import nearest_span_distances


def rival_signal(
    batch: PackedBatch, group: GroupRows, success: bool, config: CreditConfig
) -> Tensor | None:
    """The signal [n] of a class's tokens, row after row; None if there is nothing to compare with.

    uniform: 0, plain group advantage. position: t / (T−1). entropy: of the next-token
    distribution. surprisal: −log p. shear: distance of sliding spans to the nearest span of the
    other outcome (arXiv 2604.23318).
    """
    rows = group.outcome(success)
    index = batch.token_index(rows)
    if config.signal == "position":
        lines = [torch.arange(batch.length(r)) / max(batch.length(r) - 1, 1) for r in rows]
        return torch.cat(lines).to(batch.states.device)
    if config.signal == "entropy":
        assert batch.entropy is not None  # checked at the door
        return _known("entropy", batch.entropy[index])
    if config.signal == "surprisal":
        assert batch.logprobs is not None  # checked at the door
        return _known("logprobs", -batch.logprobs[index])
    if config.signal == "shear":
        return _shear(batch, group, success, config)
    return torch.zeros(len(index), device=batch.states.device)


def _known(name: str, values: Tensor) -> Tensor | None:
    """Values in float32; None where any is unknown (NaN), since a mean over them would lie."""
    values = values.detach().float()
    return values if bool(torch.isfinite(values).all()) else None


def _shear(
    batch: PackedBatch, group: GroupRows, success: bool, config: CreditConfig
) -> Tensor | None:
    others = group.outcome(not success)
    if not others:
        return None
    center = group_center(batch, group, config)
    own = class_states(batch, group.outcome(success), config, center)
    references = class_states(batch, others, config, center)
    return torch.cat(nearest_span_distances(own, references))
