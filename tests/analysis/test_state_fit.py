from __future__ import annotations

import math

import numpy as np
import pytest

from hara_viz.analysis.state_fit import fit_linear
from hara_viz.errors import ShapeError

GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(300, 12))
GROUPS = np.repeat(np.arange(10), 30)


def test_spaces_that_differ_by_a_linear_map_have_no_residual() -> None:
    matrix, shift = GENERATOR.normal(size=(12, 7)), GENERATOR.normal(size=7)
    found = fit_linear(X, X @ matrix + shift, GROUPS)
    assert found is not None
    assert found.residual < 1e-6
    assert found.matrix == pytest.approx(matrix, abs=1e-3)
    assert found.mapped(X[:5]) == pytest.approx(X[:5] @ matrix + shift, abs=1e-3)
    assert math.isnan(found.residual_unmapped)
    assert (found.n_pairs, found.n_groups) == (300, 10)


def test_spaces_that_share_nothing_are_no_better_than_the_mean() -> None:
    found = fit_linear(X, GENERATOR.normal(size=(300, 12)), GROUPS)
    assert found is not None and 0.95 < found.residual < 1.2


def test_noise_is_the_residual_that_is_left() -> None:
    matrix = GENERATOR.normal(size=(12, 12))
    signal = X @ matrix
    noise = GENERATOR.normal(size=signal.shape) * 0.5 * signal.std()
    found = fit_linear(X, signal + noise, GROUPS)
    assert found is not None
    expected = noise.var() / (signal + noise).var()
    assert found.residual == pytest.approx(expected, rel=0.15)


def test_one_basis_shows_in_the_unmapped_residual() -> None:
    found = fit_linear(X, X + 0.01 * GENERATOR.normal(size=X.shape), GROUPS)
    assert found is not None
    assert found.residual_unmapped == pytest.approx(1e-4, rel=0.2)
    assert found.residual < 2e-4


def test_more_dimensions_than_pairs_are_held_in_check() -> None:
    wide = GENERATOR.normal(size=(60, 200))
    found = fit_linear(wide, GENERATOR.normal(size=(60, 5)), np.repeat(np.arange(6), 10))
    assert found is not None and found.residual < 1.6


def test_too_little_to_hold_out_is_no_fit() -> None:
    assert fit_linear(X[:10], X[:10], GROUPS[:10]) is None
    assert fit_linear(X, X, np.zeros(300, int)) is None
    with pytest.raises(ShapeError):
        fit_linear(X, X[:-1], GROUPS)
