"""AlignedUMAP: same in, same out; the basis does not matter; what moved moves."""

from __future__ import annotations

import numpy as np
import pytest

from hara_viz.analysis.aligned_umap import fit_aligned
from hara_viz.analysis.map_quality import map_quality
from hara_viz.analysis.projection import ProjectionConfig, fit_map
from hara_viz.errors import InvalidInputError, ShapeError

CONFIG = ProjectionConfig(metric="euclidean", n_neighbors=8)
RNG = np.random.default_rng(0)
CENTRES = 8 * RNG.normal(size=(4, 6))
CLOUD = np.repeat(np.arange(4), 20)
FIRST = (CENTRES[CLOUD] + RNG.normal(size=(80, 6))).astype(np.float32)


def turned(points: np.ndarray) -> np.ndarray:
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    return (points @ turn).astype(np.float32)


def test_what_cannot_be_aligned_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"\[80, 79\]"):
        fit_aligned([FIRST, FIRST[1:]], CONFIG)
    with pytest.raises(InvalidInputError, match="1 maps of 80 points"):
        fit_aligned([FIRST], CONFIG)
    with pytest.raises(InvalidInputError, match="2 maps of 7 points"):
        fit_aligned([FIRST[:7], FIRST[:7]], CONFIG)
    hurt = FIRST.copy()
    hurt[3, 2] = np.nan
    with pytest.raises(InvalidInputError, match="map 1 are not finite"):
        fit_aligned([FIRST, hurt], CONFIG)


@pytest.mark.slow
def test_points_stay_where_only_the_basis_turned_and_move_where_they_moved() -> None:
    # Twenty points go over from the first cloud to the last, and every basis is another one.
    moved = FIRST.copy()
    moved[:20] += CENTRES[3] - CENTRES[0]
    slices = [FIRST, turned(FIRST), turned(moved)]
    first, second, third = fit_aligned(slices, CONFIG)
    assert first.shape == (80, 2) and first.dtype == np.float32
    size = np.linalg.norm(first - first.mean(0), axis=1).mean()
    shift = np.linalg.norm(second - first, axis=1).mean() / size
    alone = fit_map(slices[1], CONFIG).projection.coordinates
    assert shift < 0.25 < np.linalg.norm(alone - first, axis=1).mean() / size
    # Each map is one of its own space …
    for states, shown in zip(slices, (first, second, third), strict=True):
        assert map_quality(states, shown).trustworthiness > 0.9
    # … so those twenty end among the last cloud: nearer to it than to the two that stayed.
    middle = [third[cloud == CLOUD].mean(0) for cloud in range(4)]
    to = [np.linalg.norm(third[:20] - there, axis=1).mean() for there in middle[1:]]
    assert to[2] < min(to[:2])

    again = fit_aligned(slices, CONFIG)
    for one, other in zip((first, second, third), again, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_equal_points_and_spaces_of_other_size_are_taken() -> None:
    same = np.ones((12, 3), np.float32)
    wide = np.random.default_rng(2).normal(size=(12, 5)).astype(np.float32)
    for shown in fit_aligned([same, wide], CONFIG):
        assert shown.shape == (12, 2) and np.isfinite(shown).all()
