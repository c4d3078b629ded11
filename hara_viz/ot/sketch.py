"""A small space in which the rounds are run: S directions instead of D.

A plan feels a state only through h · y_k, and support points are means of many states. So the
directions are taken from means too: those of R·K stretches of the rollouts (the shares of the
monotone start), by a randomised range finder (arXiv 0909.4061) with one power step and a fixed
generator. What the sketch misses is made good afterwards: the alternation goes on in all D
dimensions until it has converged there, and its first round measures the error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

# The smallest of these that captures enough is taken.
SKETCH_DIMS, _ENOUGH = (64, 128), 0.95
# Projecting costs as much as a round or two, so it must save several: in so much less than D.
_LEAST_RATIO = 3
# With a smaller share of the means' energy than this the rounds are run in all dimensions.
_LEAST_CAPTURED = 0.5


@dataclass(frozen=True, slots=True)
class Basis:
    """Orthonormal directions, and how much they capture."""

    directions: Tensor
    """[D, S]."""
    captured: float
    """Share of the energy of the means that lies in them, 0 … 1."""


def sketch_basis(means: Tensor) -> Basis | None:
    """Directions for centred means [M, D]; None if a sketch would not pay or not hold."""
    total = means.square().sum()
    basis = None
    for rank in SKETCH_DIMS:
        if rank * _LEAST_RATIO > means.shape[1]:
            break
        probe = _probe(means.shape[1], rank).to(means)
        directions, _ = torch.linalg.qr(means.T @ (means @ probe))
        captured = float((means @ directions).square().sum() / total)
        basis = Basis(directions, captured)
        if captured >= _ENOUGH:
            break
    return basis if basis and basis.captured >= _LEAST_CAPTURED else None


@lru_cache(maxsize=8)
def _probe(dim: int, rank: int) -> Tensor:
    return torch.randn(dim, rank, generator=torch.Generator().manual_seed(0))
