"""Bringing the states of one checkpoint into the space of another, and how well that goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hara_viz.errors import ShapeError

_FOLDS = 5
_RIDGES = (1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""Relative to the largest squared singular value."""
MIN_PAIRS = 20


@dataclass(frozen=True, slots=True)
class LinearFit:
    """y ≈ x W + b, by ridge regression."""

    matrix: np.ndarray
    """W [D, E] float32."""
    shift: np.ndarray
    """b [E]."""
    residual: float
    """Held-out Σ‖y − ŷ‖² / Σ‖y − mean‖²: 0 = the spaces differ by a linear map, 1 = no better than
    the mean."""
    residual_unmapped: float
    """The same for ŷ = x, as if both shared one basis; NaN where D ≠ E."""
    n_pairs: int
    n_groups: int
    """Independent groups that the pairs came from: whole ones are held out."""

    def mapped(self, states: np.ndarray) -> np.ndarray:
        """States [N, D] in the other space [N, E]."""
        return states.astype(np.float32) @ self.matrix + self.shift


def fit_linear(x: np.ndarray, y: np.ndarray, groups: np.ndarray) -> LinearFit | None:
    """Fit y [N, E] on x [N, D], states of the same tokens in the same context.

    The ridge is the one with the smallest held-out residual; whole groups (problems) are held out,
    since tokens of one text are alike.

    Args:
        x: states of the one checkpoint.
        y: states of the other.
        groups: [N] integers.

    Returns:
        None for fewer than MIN_PAIRS pairs or a single group: nothing could be held out.

    Raises:
        ShapeError: the pairs do not fit each other.
    """
    if x.ndim != 2 or y.ndim != 2 or not len(x) == len(y) == len(groups):
        raise ShapeError(f"pairs of {x.shape} and {y.shape} with {len(groups)} groups do not fit")
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    names = np.unique(groups)
    if len(x) < MIN_PAIRS or len(names) < 2:
        return None
    fold = np.searchsorted(names, groups) % min(_FOLDS, len(names))
    errors = np.zeros(len(_RIDGES))
    total = unmapped = 0.0
    for held_out in np.unique(fold):
        out = fold == held_out
        mean = y[~out].mean(axis=0)
        total += float(((y[out] - mean) ** 2).sum())
        if x.shape == y.shape:
            unmapped += float(((y[out] - x[out]) ** 2).sum())
        solve = _Ridge(x[~out], y[~out])
        for i, ridge in enumerate(_RIDGES):
            matrix, shift = solve.at(ridge)
            errors[i] += float(((x[out] @ matrix + shift - y[out]) ** 2).sum())
    scale = max(total, 1e-300)
    best = int(errors.argmin())
    matrix, shift = _Ridge(x, y).at(_RIDGES[best])
    return LinearFit(
        matrix=matrix.astype(np.float32),
        shift=shift.astype(np.float32),
        residual=float(errors[best]) / scale,
        residual_unmapped=unmapped / scale if x.shape == y.shape else float("nan"),
        n_pairs=len(x),
        n_groups=len(names),
    )


class _Ridge:
    """Ridge regressions of one set of pairs, from one decomposition."""

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self._mean_x, self._mean_y = x.mean(axis=0), y.mean(axis=0)
        left, self._values, self._right = np.linalg.svd(x - self._mean_x, full_matrices=False)
        self._scores = left.T @ (y - self._mean_y)

    def at(self, ridge: float) -> tuple[np.ndarray, np.ndarray]:
        strength = ridge * float(self._values.max(initial=0.0)) ** 2
        shrunk = self._values / np.maximum(self._values**2 + strength, 1e-300)
        matrix = self._right.T @ (shrunk[:, None] * self._scores)
        return matrix, self._mean_y - self._mean_x @ matrix
