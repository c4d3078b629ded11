from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness

from hara_viz.analysis.map_quality import map_quality
from hara_viz.analysis.ranks import spearman
from hara_viz.errors import InvalidInputError, ShapeError


@pytest.mark.parametrize(("n_points", "k"), [(60, 5), (300, 10), (301, 12)])
def test_trustworthiness_is_that_of_scikit_learn(n_points: int, k: int) -> None:
    rng = np.random.default_rng(n_points)
    points = rng.normal(size=(n_points, 12))
    shown = points[:, :2] + 0.3 * rng.normal(size=(n_points, 2))
    found = map_quality(points, shown, k)
    assert found.k == k
    assert found.trustworthiness == pytest.approx(trustworthiness(points, shown, n_neighbors=k))
    assert 0 < found.overlap < 1


def test_a_faithful_map_is_perfect_and_chance_is_not() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200, 2))
    assert map_quality(points, 3 * points[:, ::-1]) == (1.0, 1.0, 10)
    chance = map_quality(points, rng.normal(size=(200, 2)))
    assert chance.trustworthiness == pytest.approx(0.5, abs=0.06)
    assert chance.overlap == pytest.approx(10 / 199, abs=0.03)


def test_k_shrinks_for_small_maps_and_misfits_are_refused() -> None:
    points = np.random.default_rng(0).normal(size=(7, 3))
    assert map_quality(points, points[:, :2]).k == 3
    with pytest.raises(InvalidInputError, match="takes 4"):
        map_quality(points[:3], points[:3])
    with pytest.raises(ShapeError, match="7 points and 6"):
        map_quality(points, points[:6])


def test_spearman_is_that_of_scipy_with_ties_too() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=50), rng.integers(0, 5, 50)
    assert spearman(a, b) == pytest.approx(spearmanr(a, b).statistic)
    assert spearman(a, a**3) == pytest.approx(1.0)
    assert spearman(a, -a) == pytest.approx(-1.0)
    assert spearman(a, np.ones(50)) is None
    assert spearman(a[:1], a[:1]) is None
    with pytest.raises(ShapeError):
        spearman(a, b[:-1])
