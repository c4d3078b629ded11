"""Maps of the same points in several spaces, kept in line: umap-learn's AlignedUMAP.

Knows nothing of checkpoints: the same N points in S spaces in, S maps out.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from hara_viz.analysis.projection import (
    MAX_UMAP_DIMENSIONS,
    ProjectionConfig,
    in_metric,
    principal_axes,
)
from hara_viz.errors import InvalidInputError, ShapeError

MIN_ALIGNED_POINTS = 8
"""A spectral start in space takes a few more points than dimensions."""


def fit_aligned(slices: Sequence[np.ndarray], config: ProjectionConfig) -> tuple[np.ndarray, ...]:
    """One map [N, n_components] for each of S spaces of the same N points, kept in line.

    Each map keeps the neighbours of its own space, and a point is drawn to where it lies on the
    maps before and after (relation: point i to point i). So the basis of a space does not matter,
    nor does the distance from one space to the next; what a point does against its surroundings
    does. The spaces may have different dimensions.

    Args:
        slices: S × [N, D_s] finite numbers; row i is the same thing in each.
        config: of the maps; `method` is not looked at.

    Returns:
        S maps, float32. Equal slices and config, equal maps.

    Raises:
        ShapeError: the slices hold different numbers of points.
        InvalidInputError: fewer than two slices or `MIN_ALIGNED_POINTS` points, or a value is not
            finite.
    """
    import umap

    _check(slices)
    n_points = len(slices[0])
    reduced = [_reduced(points, config) for points in slices]
    same = {point: point for point in range(n_points)}
    model = umap.AlignedUMAP(
        n_components=config.n_components,
        n_neighbors=min(config.n_neighbors, n_points - 1),
        min_dist=config.min_dist,
        metric="euclidean",  # on unit vectors the same neighbours as the cosine
        random_state=config.seed,
        transform_seed=config.seed,
    )
    with warnings.catch_warnings():
        # Of one thread per seed, and of a spectral start that falls back to a random one.
        warnings.simplefilter("ignore", UserWarning)
        maps = model.fit_transform(reduced, relations=[same] * (len(slices) - 1))
    return tuple(np.nan_to_num(np.asarray(one, np.float32)) for one in maps)


def _reduced(points: np.ndarray, config: ProjectionConfig) -> np.ndarray:
    points = in_metric(points, config.metric)
    axes = principal_axes(points, min(MAX_UMAP_DIMENSIONS, *points.shape))
    # Equal points are one point to a spectral start, which then fails; this is below what is seen.
    scale = 1e-4 * float(points.std())
    noise = np.random.default_rng(0).normal(scale=scale, size=(len(points), len(axes.shares)))
    return axes.scores(points) + noise.astype(np.float32)


def _check(slices: Sequence[np.ndarray]) -> None:
    sizes = [len(points) for points in slices]
    if len(set(sizes)) > 1:
        raise ShapeError(f"aligned maps hold the same points, these hold {sizes}")
    if len(slices) < 2 or sizes[0] < MIN_ALIGNED_POINTS:
        n_points = sizes[0] if sizes else 0
        raise InvalidInputError(
            f"{len(slices)} maps of {n_points} points cannot be aligned; it takes 2 maps of "
            f"{MIN_ALIGNED_POINTS} points"
        )
    for number, points in enumerate(slices):
        if not np.isfinite(points).all():
            raise InvalidInputError(
                f"states of map {number} are not finite; leave them out or read them again"
            )
