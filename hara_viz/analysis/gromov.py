"""Gromov-Wasserstein distance of two small structures: no common basis is needed.

With as many points on both sides and uniform weights, a linear problem over couplings is an
assignment, so conditional gradient steps (Vayer et al., arXiv 1805.09114, algorithm 1) are cheap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from hara_viz.errors import ShapeError

_STEPS = 200


class GromovMatch(NamedTuple):
    """The best coupling that was found (the problem is not convex)."""

    distance: float
    """√ of the loss."""
    coupling: np.ndarray
    """[K, K], rows and columns sum to 1/K."""


def gromov_distance(a: np.ndarray, b: np.ndarray) -> GromovMatch:
    """√ min_π Σ (a[i,j] − b[k,l])² π[i,k] π[j,l] over couplings with uniform marginals.

    Started from the identity, since support points are numbered by where they began in time, and
    from the product coupling; the better end is taken. So the distance is an upper bound, symmetric
    in practice, and 0 for equal structures.

    Args:
        a, b: [K, K] symmetric.

    Raises:
        ShapeError: they are not square, or of different size.
    """
    if a.ndim != 2 or a.shape[0] != a.shape[1] or a.shape != b.shape:
        raise ShapeError(f"structures must be [K, K] of one K, got {a.shape} and {b.shape}")
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    size = len(a)
    starts = (np.eye(size) / size, np.full((size, size), 1.0 / size**2))
    found = [_descend(a, b, start) for start in starts]
    loss, coupling = min(found, key=lambda end: end[0])
    return GromovMatch(float(np.sqrt(max(loss, 0.0))), coupling)


def _descend(a: np.ndarray, b: np.ndarray, coupling: np.ndarray) -> tuple[float, np.ndarray]:
    """Conditional gradient steps with exact line search."""
    size = len(a)
    constant = float((a**2).mean() + (b**2).mean())  # of the loss, since the marginals are fixed
    product = a @ coupling @ b
    cross = float((product * coupling).sum())
    for _ in range(_STEPS):
        rows, columns = linear_sum_assignment(-product)
        step = -coupling
        step[rows, columns] += 1.0 / size
        moved = a @ step @ b
        linear, square = float((product * step).sum()), float((moved * step).sum())
        # cross(t) = cross + 2 t linear + t² square is to be largest on [0, 1].
        if linear <= 1e-14:
            break
        t = 1.0 if square >= 0 else min(1.0, -linear / square)
        coupling, product = coupling + t * step, product + t * moved
        cross += 2 * t * linear + t * t * square
    return constant - 2.0 * cross, coupling
