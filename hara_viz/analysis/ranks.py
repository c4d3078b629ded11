"""Agreement of two orderings."""

from __future__ import annotations

import numpy as np

from hara_viz.errors import ShapeError


def spearman(a: np.ndarray, b: np.ndarray) -> float | None:
    """Spearman's rank correlation of two sequences [N], ties sharing their mean rank.

    None where it is undefined: fewer than two values, or one sequence is constant.

    Raises:
        ShapeError: the lengths differ.
    """
    if len(a) != len(b):
        raise ShapeError(f"got {len(a)} and {len(b)} values to compare")
    if len(a) < 2:
        return None
    x, y = _ranks(np.asarray(a)), _ranks(np.asarray(b))
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 0 else None


def _ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2.0)[inverse]
