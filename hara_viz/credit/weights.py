"""From novelty to weights: standardise, clip and conserve (7)."""

from __future__ import annotations

import torch
from torch import Tensor

_STD_FLOOR = 1e-6
_MAX_STEPS = 100


def standardise(values: Tensor) -> Tensor:
    """z = (n − mean) / (population std + 1e-6) over the tokens of one outcome class [N]."""
    values = values.double()
    return (values - values.mean()) / (values.std(correction=0) + _STD_FLOOR)


def clip_to_mean_one(raw: Tensor, segments: Tensor, low: float, high: float) -> Tensor:
    """w = clip(raw + c, low, high) with one c per segment, such that each segment's mean is 1.

    This is the Euclidean projection of `raw` on {mean 1, low ≤ w ≤ high}: clip and mean hold
    together, and unclipped tokens keep their spacing. c is the root of a piecewise linear,
    non-decreasing function; Newton steps inside a bracket end on its very piece.

    Args:
        raw: [N] float64.
        segments: [N] int, 0 … S−1, each occurring.
        low: w_min ≤ 1.
        high: w_max ≥ 1.
    """
    n_segments = int(segments.max()) + 1
    counts = torch.bincount(segments, minlength=n_segments).to(raw)

    def mean(values: Tensor) -> Tensor:
        return torch.zeros(n_segments).to(raw).index_add_(0, segments, values) / counts

    largest = (
        torch.full((n_segments,), -torch.inf).to(raw).scatter_reduce_(0, segments, raw, "amax")
    )
    smallest = (
        torch.full((n_segments,), torch.inf).to(raw).scatter_reduce_(0, segments, raw, "amin")
    )
    left, right = low - largest, high - smallest
    shift = (1.0 - mean(raw)).clamp(left, right)
    for _ in range(_MAX_STEPS):
        moved = raw + shift[segments]
        excess = mean(moved.clamp(low, high)) - 1.0
        if float(excess.abs().max()) < 1e-14:
            break
        left = torch.where(excess < 0, shift, left)
        right = torch.where(excess > 0, shift, right)
        slope = mean(((moved > low) & (moved < high)).to(raw))
        newton = shift - excess / slope  # ±inf on a flat piece: then bisect
        inside = (newton > left) & (newton < right)
        step = torch.where(inside, newton, (left + right) / 2)
        shift = torch.where(excess.abs() < 1e-14, shift, step)
    return (raw + shift[segments]).clamp(low, high)
