"""A seeded random projection of hidden states to fewer dimensions, with its measured error.

Distances between rows are what the transport looks at; a Gaussian projection keeps them up to
about sqrt(2 / d) relative error (Johnson & Lindenstrauss 1984), and the error on the very states is
measured, not assumed.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hara_viz.errors import InvalidInputError

CHUNK_ROWS = 8192
PAIRS = 4096


def projection_matrix(hidden_size: int, dim: int, seed: int = 0) -> Tensor:
    """[D, d] float32 on the CPU: independent N(0, 1/d), the same for one seed everywhere.

    Raises:
        InvalidInputError: `dim` is not in 1 … D.
    """
    if not 1 <= dim <= hidden_size:
        raise InvalidInputError(
            f"a projection to {dim} dimensions needs states of at least as many, and these have "
            f"{hidden_size}; choose 1 to {hidden_size}"
        )
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(hidden_size, dim, generator=generator) / dim**0.5


def project_states(states: Tensor, matrix: Tensor) -> Tensor:
    """States [N, D] of any dtype -> [N, d] of the same dtype, computed in float32."""
    projected = torch.empty(len(states), matrix.shape[1], dtype=states.dtype)
    for start in range(0, len(states), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        projected[rows] = (states[rows].float() @ matrix).to(states.dtype)
    return projected


def distance_error(states: Tensor, projected: Tensor, seed: int = 0) -> float:
    """Root mean square of the relative error of distances between random pairs of rows.

    Pairs that coincide have no relative error and are left out; 0 if no pair is left.
    """
    if len(states) < 2:
        return 0.0
    generator = torch.Generator().manual_seed(seed)
    first = torch.randint(len(states), (PAIRS,), generator=generator)
    second = torch.randint(len(states), (PAIRS,), generator=generator)
    true = (states[first].double() - states[second].double()).norm(dim=1)
    kept = (projected[first].double() - projected[second].double()).norm(dim=1)
    apart = true > 0
    if not bool(apart.any()):
        return 0.0
    return float((kept[apart] / true[apart] - 1).square().mean().sqrt())
