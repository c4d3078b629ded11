"""Small sequences with known structure, shared by the transport tests."""

from __future__ import annotations

import torch
from torch import Tensor


def line(length: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Relative locations of `length` atoms."""
    return torch.arange(length, dtype=dtype) / max(length - 1, 1)


def clustered_rollouts(
    lengths: list[int], *, dim: int = 16, stages: int = 5, noise: float = 0.1, seed: int = 0
) -> tuple[list[Tensor], list[Tensor]]:
    """Rollouts that pass through the same stages in order: unit states [T_r, D], locations."""
    generator = torch.Generator().manual_seed(seed)
    centres = torch.nn.functional.normalize(torch.randn(stages, dim, generator=generator), dim=-1)
    features: list[Tensor] = []
    for length in lengths:
        stage = (line(length) * (stages - 1)).round().long()
        states = centres[stage] + noise * torch.randn(length, dim, generator=generator)
        features.append(torch.nn.functional.normalize(states, dim=-1))
    return features, [line(length) for length in lengths]


def spearman(a: Tensor, b: Tensor) -> float:
    """Rank correlation of two vectors without ties."""
    ranks = torch.stack([a.argsort().argsort().double(), b.argsort().argsort().double()])
    return float(torch.corrcoef(ranks)[0, 1])
