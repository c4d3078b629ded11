from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hara_viz.analysis.map_values import (
    colour_domain,
    common_steps,
    common_words,
    point_positions,
    point_values,
)
from hara_viz.errors import ShapeError

POINTS = pd.DataFrame({"sample": [3, 3, 5], "token": [0, 2, 1], "n_tokens": [2, 1, 2]})
STARTS, LENGTHS = {3: 0, 5: 3}, {3: 3, 5: 3}


def test_a_point_gets_the_mean_of_its_tokens() -> None:
    values = np.array([1.0, 3.0, 7.0, 9.0, np.nan, 5.0])
    np.testing.assert_allclose(point_values(POINTS, values, STARTS, LENGTHS), [2.0, 7.0, 5.0])
    nothing = np.full(6, np.nan)
    assert np.isnan(point_values(POINTS, nothing, STARTS, LENGTHS)).all()


def test_tokens_beyond_the_rollout_are_refused() -> None:
    with pytest.raises(ShapeError, match="point 2"):
        point_values(POINTS, np.zeros(6), STARTS, {3: 3, 5: 2})


def test_positions_run_from_first_to_last() -> None:
    np.testing.assert_allclose(point_positions(POINTS, LENGTHS), [0.0, 1.0, 0.5])


def test_domains_are_quantiles_and_signed_ones_are_centred() -> None:
    values = np.linspace(-1, 3, 101)
    low, high = colour_domain(values, False)
    assert (low, high) == pytest.approx((-0.92, 2.92))
    assert colour_domain(values, True) == pytest.approx((-2.92, 2.92))
    assert colour_domain(np.full(4, np.nan), False) == (0.0, 1.0)
    assert colour_domain(np.zeros(4), True) == (-1.0, 1.0)
    assert colour_domain(np.full(4, 2.0), False) == (2.0, 3.0)


def test_common_words_fold_case_and_blanks() -> None:
    assert common_words([" So", "so", "12", "  ", "12 ", "a"]) == [("12", 2), ("so", 2), ("a", 1)]


def test_common_steps_count_points_and_rollouts() -> None:
    texts = ["So x = 1.", " so  x = 1.\n", "Then 2", "Then 2", "So x = 1.", " "]
    found = common_steps(texts, [0, 3, 3, 3, 0, 5])
    assert found == [("So x = 1.", 3, 2), ("Then 2", 2, 1)]
    assert common_steps(texts, [0, 3, 3, 3, 0, 5], top=1) == found[:1]
    assert common_steps([], []) == []
    with pytest.raises(ValueError, match="shorter"):
        common_steps(["a", "b"], [1])
