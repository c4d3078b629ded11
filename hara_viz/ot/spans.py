"""Sliding spans and how far each lies from the nearest span of other rollouts (SHEAR's distance).

Shown beside HarA as a rival signal: Wasserstein distance of a span's states to the nearest span of
the other outcome, after arXiv 2604.23318; width, stride and the candidate search are ours.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from hara_viz.ot.sinkhorn import sinkhorn

SPAN_WIDTH, SPAN_STRIDE = 16, 8
# The distance of the means bounds W₂ from below, so few near candidates hold the nearest span.
_CANDIDATES = 8
_EPSILON = 0.05
_BATCH = 4096


@torch.no_grad()
def nearest_span_distances(
    features: Sequence[Tensor], references: Sequence[Tensor]
) -> list[Tensor]:
    """For each atom the mean, over the spans that hold it, of W₂² to the nearest reference span.

    Args:
        features: R tensors [T_r, D].
        references: Tensors [T_s, D] of the rollouts to compare with, at least one.

    Returns:
        R tensors [T_r], ≥ 0.
    """
    targets = torch.cat([h[_span_index(len(h)).to(h.device)] for h in references]).float()
    return [_distances(h.float(), targets) for h in features]


def _span_index(length: int) -> Tensor:
    """Atoms of each span: [S, width]. A rollout shorter than a span repeats its atoms."""
    if length <= SPAN_WIDTH:
        return torch.linspace(0, length - 1, SPAN_WIDTH).round().long()[None]
    starts = [*range(0, length - SPAN_WIDTH, SPAN_STRIDE), length - SPAN_WIDTH]
    return torch.tensor(starts)[:, None] + torch.arange(SPAN_WIDTH)[None, :]


def _distances(h: Tensor, targets: Tensor) -> Tensor:
    index = _span_index(len(h)).to(h.device)
    spans = h[index]
    bounds = torch.cdist(spans.mean(1), targets.mean(1))
    near = bounds.topk(min(_CANDIDATES, len(targets)), largest=False).indices  # [S, C]
    pairs = near.flatten().split(_BATCH)
    sources = torch.arange(len(spans), device=h.device).repeat_interleave(near.shape[1])
    values = [
        _wasserstein(spans[i], targets[j])
        for i, j in zip(sources.split(_BATCH), pairs, strict=True)
    ]
    nearest = torch.cat(values).view(near.shape).amin(1)
    total = torch.zeros(len(h), device=h.device).index_add_(
        0, index.flatten(), nearest.repeat_interleave(index.shape[1])
    )
    return total / torch.bincount(index.flatten(), minlength=len(h))


def _wasserstein(sources: Tensor, targets: Tensor) -> Tensor:
    """W₂² of pairs of uniform measures [P, width, D] by Sinkhorn with a small blur: [P]."""
    cost = torch.cdist(sources, targets).square()
    scale = float(cost.mean())
    if scale == 0.0:
        return cost.new_zeros(len(cost))
    mass = torch.full(cost.shape[:2], 1.0 / cost.shape[1], device=cost.device)
    solved = sinkhorn(cost, mass, _EPSILON * scale, tolerance=1e-2, max_sweeps=200)
    return (solved.plans * cost).sum((1, 2))
