"""Places on a finished map for points that took no part in it, by the points beside them."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from hara_viz.errors import InvalidInputError, ShapeError

NEAREST = 5


def place_near(
    marks: np.ndarray, points: np.ndarray, coordinates: np.ndarray, k: int = NEAREST
) -> np.ndarray:
    """Weighted means of the places of each mark's k nearest points; the weight is 1 / distance.

    A mark that is one of the points stands where that point stands (the mean of their places, if
    several points are equal to it). Needs no fitted model, so it holds for a map that was kept.

    Args:
        marks: [M, D].
        points: [N, D] that the map was made of, in the same space.
        coordinates: [N, d] their places.
        k: neighbours; fewer if there are not so many points.

    Returns:
        [M, d] float32; NaN for a mark that is near no point, since it is not finite itself.

    Raises:
        ShapeError: the three do not fit each other.
        InvalidInputError: there are no points, or k < 1.
    """
    if marks.ndim != 2 or points.ndim != 2 or marks.shape[1] != points.shape[1]:
        raise ShapeError(f"marks have shape {marks.shape}, points {points.shape}")
    if len(points) != len(coordinates):
        raise ShapeError(f"got {len(points)} points and {len(coordinates)} places on the map")
    if k < 1 or not len(points):
        raise InvalidInputError(f"{k} of {len(points)} points are no neighbours; it takes 1")
    k = min(k, len(points))
    placed = np.empty((len(marks), coordinates.shape[1]), np.float32)
    distances = cdist(marks, points)
    distances[np.isnan(distances)] = np.inf  # a state that overflowed is near nothing
    for i, distance in enumerate(distances):
        nearest = np.argpartition(distance, k - 1)[:k]
        on_it = np.flatnonzero(distance == 0)
        if len(on_it):
            placed[i] = coordinates[on_it].mean(axis=0)
            continue
        weights = 1.0 / distance[nearest]
        total = weights.sum()
        placed[i] = weights @ coordinates[nearest] / total if total else np.nan
    return placed
