"""The start: the monotone coupling in time. No seed, no dependence on the order of rows."""

from __future__ import annotations

import torch
from torch import Tensor

from hara_viz.ot.measures import Measures


def monotone_coupling(measures: Measures, n_support: int) -> Tensor:
    """π⁰_r[i, k] = overlap of [i/T_r, (i+1)/T_r] with [k/K, (k+1)/K]: plans [R, T, K].

    Rows sum to 1/T_r and columns to 1/K; padding rows are zero.
    """
    mass, width = measures.mass, 1.0 / n_support
    index = torch.arange(mass.shape[1], dtype=mass.dtype, device=mass.device)
    left = (index * mass)[..., None]
    right = ((index + 1) * mass)[..., None]
    edges = torch.arange(n_support, dtype=mass.dtype, device=mass.device) * width
    overlap = torch.minimum(right, edges + width) - torch.maximum(left, edges)
    return overlap.clamp_min(0) * (mass > 0)[..., None]
