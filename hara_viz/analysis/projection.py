"""Maps of hidden states: PCA and UMAP, repeatable, and honest about what was left out.

Knows nothing of tokens, runs or figures: points [N, D] in, coordinates [N, 2 or 3] out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hara_viz.errors import InvalidInputError, ShapeError

Method = Literal["pca", "umap"]
Metric = Literal["cosine", "euclidean"]
METHODS: tuple[Method, ...] = ("pca", "umap")
METRICS: tuple[Metric, ...] = ("cosine", "euclidean")
MAX_UMAP_DIMENSIONS = 50
"""UMAP works on this many principal components; neighbours hardly change, time does."""
MIN_UMAP_POINTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionConfig:
    """How points become a map. Equal config and points, equal map."""

    method: Method = "umap"
    n_components: int = 2
    metric: Metric = "cosine"
    """"cosine": points are scaled to unit length first."""
    n_neighbors: int = 15
    min_dist: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        checks: tuple[tuple[str, bool, str], ...] = (
            ("method", self.method in METHODS, f"one of {', '.join(METHODS)}"),
            ("metric", self.metric in METRICS, f"one of {', '.join(METRICS)}"),
            ("n_components", self.n_components in (2, 3), "2 or 3"),
            ("n_neighbors", self.n_neighbors >= 2, "at least 2"),
            ("min_dist", 0 <= self.min_dist <= 1, "in [0, 1]"),
        )
        for name, holds, expected in checks:
            if not holds:
                raise InvalidInputError(f"{name} is {getattr(self, name)}; it must be {expected}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """A map and how much it can be trusted."""

    coordinates: np.ndarray
    """[N, n_components] float32."""
    method: str
    """What was really used: too few points for UMAP fall back to PCA."""
    explained: tuple[float, ...]
    """PCA: share of the variance on each axis. UMAP: of the components it worked on."""
    notes: tuple[str, ...] = ()
    """In plain sentences, what differs from what was asked."""
    landmarks: np.ndarray | None = None
    """[M, n_components] float32: places of points that took no part in the fit."""


def project(
    points: np.ndarray,
    config: ProjectionConfig,
    *,
    labels: np.ndarray | None = None,
    landmarks: np.ndarray | None = None,
) -> Projection:
    """Lay points [N, D] out in the plane or in space.

    Args:
        points: [N, D] finite numbers.
        config: method and its settings.
        labels: [N] integers for a supervised UMAP (−1 = no label); PCA takes none.
        landmarks: [M, D] points (atoms of a barycenter) that are placed on the finished map: by
            PCA's axes, or by UMAP's transform. The map is the same with and without them.

    Returns:
        A `Projection`. Axes of PCA are signed so that each has its largest loading positive.

    Raises:
        ShapeError: `points` is not [N, D] with N, D ≥ 1, or `labels` has another length.
        InvalidInputError: a value is not finite, or PCA is given labels.
    """
    fitted = fit_map(points, config, labels=labels)
    if landmarks is None or not len(landmarks):
        return fitted.projection
    return replace(fitted.projection, landmarks=fitted.place(landmarks))


@dataclass(frozen=True, slots=True)
class FittedMap:
    """A finished map on which further points can be placed."""

    projection: Projection
    n_dimensions: int
    _place: Callable[[np.ndarray], np.ndarray]

    def place(self, points: np.ndarray) -> np.ndarray:
        """[M, D] -> [M, n_components] float32; the map stays as it is.

        Raises:
            ShapeError: the points have other dimensions than those of the fit.
        """
        if points.ndim != 2 or points.shape[1] != self.n_dimensions:
            raise ShapeError(
                f"landmarks have {points.shape[-1]} dimensions, points {self.n_dimensions}"
            )
        return np.asarray(self._place(points), dtype=np.float32)


def fit_map(
    points: np.ndarray, config: ProjectionConfig, *, labels: np.ndarray | None = None
) -> FittedMap:
    """The map of points [N, D], ready to take more: see `project` for arguments and errors."""
    points = np.ascontiguousarray(points, dtype=np.float32)
    if points.ndim != 2 or 0 in points.shape:
        raise ShapeError(f"points have shape {points.shape}; they must be [N, D], neither empty")
    if labels is not None and len(labels) != len(points):
        raise ShapeError(f"got {len(labels)} labels for {len(points)} points")
    if labels is not None and config.method == "pca":
        raise InvalidInputError("PCA takes no labels; choose umap for a supervised map")
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise InvalidInputError(f"point {row} is not finite; leave it out or repair its states")
    points = in_metric(points, config.metric)
    if config.method == "umap" and len(points) >= MIN_UMAP_POINTS:
        return _umap(points, config, labels)
    axes = principal_axes(points, config.n_components)
    notes = (
        (f"UMAP needs {MIN_UMAP_POINTS} points; {len(points)} are shown by PCA",)
        if config.method == "umap"
        else ()
    )
    found = Projection(
        coordinates=axes.scores(points), method="pca", explained=axes.shares, notes=notes
    )
    return FittedMap(
        found, points.shape[1], lambda others: axes.scores(in_metric(others, config.metric))
    )


@dataclass(frozen=True, slots=True)
class PrincipalAxes:
    """The directions in which points vary most."""

    mean: np.ndarray
    """[D] float64."""
    axes: np.ndarray
    """[D, n_components]; axes beyond the rank of the points are zero."""
    shares: tuple[float, ...]
    """Share of the variance on each axis."""

    def scores(self, points: np.ndarray) -> np.ndarray:
        """[N, n_components] float32: places of points [N, D] on the axes."""
        return ((points.astype(np.float64) - self.mean) @ self.axes).astype(np.float32)


def principal_components(
    points: np.ndarray, n_components: int
) -> tuple[np.ndarray, tuple[float, ...]]:
    """Scores [N, n_components] on the principal axes and each axis's share of the variance.

    Axes beyond the rank of the points are zero.
    """
    found = principal_axes(points, n_components)
    return found.scores(points), found.shares


def principal_axes(points: np.ndarray, n_components: int) -> PrincipalAxes:
    """The first principal axes of points [N, D]."""
    mean = points.mean(axis=0, dtype=np.float64)
    centred = points.astype(np.float64) - mean
    directions = np.zeros((points.shape[1], n_components))
    shares = np.zeros(n_components)
    # The small side's Gram matrix holds the same spectrum, and fits in memory where N × D may not.
    if points.shape[0] >= points.shape[1]:
        variances, axes = np.linalg.eigh(centred.T @ centred)
        kept = min(n_components, len(variances))
        axes = axes[:, ::-1][:, :kept]
    else:
        variances, rows = np.linalg.eigh(centred @ centred.T)
        kept = min(n_components, len(variances))
        axes = centred.T @ rows[:, ::-1][:, :kept]
        axes /= np.maximum(np.linalg.norm(axes, axis=0), 1e-30)
    variances = np.maximum(variances[::-1], 0.0)
    # Fix the sign: otherwise the same run may show mirrored on another machine.
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.where(axes[largest, np.arange(kept)] < 0, -1.0, 1.0)
    total = float(variances.sum())
    # No variance beyond rounding: the points coincide, and no axis means anything.
    scale = float((points.astype(np.float64) ** 2).sum())
    if total > 1e-12 * max(scale, 1e-300):
        real = variances[:kept] > 1e-12 * total
        directions[:, :kept] = axes * real
        shares[:kept] = variances[:kept] / total
    return PrincipalAxes(mean, directions, tuple(shares.tolist()))


def fair_choice(strata: Sequence[int] | np.ndarray, cap: int, *, seed: int = 0) -> np.ndarray:
    """Indices (ascending) of at most `cap` points, drawn at random and evenly over the strata.

    Each stratum gives the same number, small ones give all they have: the first N points would
    show early rollouts only.
    """
    if cap < 1:
        raise InvalidInputError(f"the cap on points is {cap}; it must be at least 1")
    strata = np.asarray(strata)
    if len(strata) <= cap:
        return np.arange(len(strata))
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(len(strata))
    # A point's rank within its stratum: taking the lowest ranks first fills strata evenly.
    order = shuffled[np.argsort(strata[shuffled], kind="stable")]
    sorted_strata = strata[order]
    starts = np.flatnonzero(np.r_[True, sorted_strata[1:] != sorted_strata[:-1]])
    sizes = np.diff(np.r_[starts, len(order)])
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    tie = generator.permutation(len(order))
    return np.sort(order[np.lexsort((tie, rank))[:cap]])


def in_metric(points: np.ndarray, metric: Metric) -> np.ndarray:
    """Points in the space whose Euclidean neighbours are the metric's: unit length for cosine."""
    points = np.ascontiguousarray(points, dtype=np.float32)
    return _unit_length(points) if metric == "cosine" else points


def _unit_length(points: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(lengths == 0, 1.0, lengths)


def _umap(points: np.ndarray, config: ProjectionConfig, labels: np.ndarray | None) -> FittedMap:
    import umap

    axes = principal_axes(points, min(MAX_UMAP_DIMENSIONS, *points.shape))
    reduced = axes.scores(points)
    n_neighbors = min(config.n_neighbors, len(points) - 1)
    notes = (
        (f"{len(points)} points have at most {n_neighbors} neighbours each",)
        if n_neighbors < config.n_neighbors
        else ()
    )
    model = umap.UMAP(
        n_components=config.n_components,
        n_neighbors=n_neighbors,
        min_dist=config.min_dist,
        metric="euclidean",  # on unit vectors the same neighbours as the cosine
        init=_start(reduced, config.n_components),  # pyright: ignore[reportArgumentType]
        random_state=config.seed,
        n_jobs=1,  # what UMAP does with a fixed seed; named, so that it does not warn
    )
    coordinates = model.fit_transform(reduced, y=labels)
    found = Projection(
        coordinates=np.asarray(coordinates, dtype=np.float32),
        method="umap",
        explained=(float(sum(axes.shares)),),
        notes=notes,
    )

    def place(others: np.ndarray) -> np.ndarray:
        reduced = axes.scores(in_metric(others, config.metric))
        return np.asarray(model.transform(reduced))

    return FittedMap(found, points.shape[1], place)


def _start(reduced: np.ndarray, n_components: int) -> np.ndarray:
    """The first principal axes at UMAP's scale: stable where a spectral start is not."""
    start = np.zeros((len(reduced), n_components), dtype=np.float32)
    kept = min(n_components, reduced.shape[1])
    start[:, :kept] = reduced[:, :kept]
    largest = float(np.abs(start).max())
    if largest > 0:
        start *= 10.0 / largest
    # Equal points must not start on one spot: UMAP could not pull them apart.
    noise = np.random.default_rng(0).normal(scale=1e-3, size=start.shape)
    return start + noise.astype(np.float32)
