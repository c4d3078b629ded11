"""How far a map of points can be trusted: what it makes neighbours of, and what it tears apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hara_viz.errors import InvalidInputError, ShapeError


class MapQuality(NamedTuple):
    """Two figures in [0, 1], 1 = perfect."""

    trustworthiness: float
    """Falls when points are neighbours on the map that are far apart in truth (Venna & Kaski)."""
    overlap: float
    """Mean share of a point's k true neighbours that are its neighbours on the map too."""
    k: int


def map_quality(points: np.ndarray, coordinates: np.ndarray, k: int = 10) -> MapQuality:
    """Compare neighbourhoods in the space of the points [N, D] with those on the map [N, 2 or 3].

    Trustworthiness = 1 − 2 / (N k (2N − 3k − 1)) · Σ_i Σ_{j ∈ U_i} (rank(i, j) − k), where U_i are
    map neighbours that are no true neighbours, and rank is by true distance (points that tie share
    the better rank, so that equal points are never called torn apart). Chance gives about
    1/2 there and k / (N − 1) for the overlap.

    Args:
        points: in the space that the map was made from (unit length for cosine).
        coordinates: the map.
        k: neighbours; lowered to fit small maps (k < N / 2).

    Raises:
        ShapeError: the two do not hold the same points.
        InvalidInputError: fewer than 4 points.
    """
    n_points = len(points)
    if len(coordinates) != n_points:
        raise ShapeError(f"got {n_points} points and {len(coordinates)} places on the map")
    if n_points < 4:
        raise InvalidInputError(f"{n_points} points have no neighbourhoods; it takes 4")
    k = min(k, (n_points - 1) // 2)
    penalty, shared = 0.0, 0
    for i, (true, shown) in enumerate(_rows(points, coordinates)):
        true[i] = shown[i] = np.inf
        nearest = np.argpartition(shown, k - 1)[:k]
        ranks = np.array([np.count_nonzero(true < true[j]) + 1 for j in nearest])
        shared += int((ranks <= k).sum())
        penalty += float(np.maximum(ranks - k, 0).sum())
    scale = 2.0 / (n_points * k * (2.0 * n_points - 3.0 * k - 1.0))
    return MapQuality(1.0 - scale * penalty, shared / (n_points * k), k)


def _rows(points: np.ndarray, coordinates: np.ndarray, block: int = 256):
    """Squared distances of one point after the other to all, in both spaces."""
    for start in range(0, len(points), block):
        chunk = slice(start, start + block)
        yield from zip(_squared(points, chunk), _squared(coordinates, chunk), strict=True)


def _squared(points: np.ndarray, chunk: slice) -> np.ndarray:
    points = points.astype(np.float64) - points.mean(axis=0, dtype=np.float64)
    norms = (points**2).sum(axis=1)
    return norms[chunk, None] - 2.0 * points[chunk] @ points.T + norms
