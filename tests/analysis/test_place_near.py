"""Marks beside their nearest points: closed forms and invariants."""

from __future__ import annotations

import numpy as np
import pytest

from hara_viz.analysis.landmarks import place_near
from hara_viz.errors import InvalidInputError, ShapeError

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(50, 8)).astype(np.float32)
PLACES = RNG.normal(size=(50, 2)).astype(np.float32)


def test_a_mark_on_a_point_stands_on_it() -> None:
    np.testing.assert_array_equal(place_near(POINTS[[7, 3]], POINTS, PLACES), PLACES[[7, 3]])
    twice = np.concatenate([POINTS, POINTS[:1]])
    places = np.concatenate([PLACES, [[9.0, 9.0]]])
    expected = [(PLACES[0] + 9.0) / 2]
    np.testing.assert_allclose(place_near(POINTS[:1], twice, places), expected, rtol=1e-6)


def test_weights_fall_with_the_distance() -> None:
    points, places = np.array([[0.0], [3.0], [50.0]]), np.array([[0.0, 0], [3.0, 3], [9.0, 9]])
    # At 1 the distances are 1 and 2, so the weights are 2 : 1.
    np.testing.assert_allclose(place_near(np.array([[1.0]]), points, places, k=2), [[1.0, 1.0]])


def test_marks_stay_within_the_places_of_their_neighbours() -> None:
    marks = RNG.normal(size=(20, 8))
    for mark, placed in zip(marks, place_near(marks, POINTS, PLACES), strict=True):
        nearest = np.argsort(np.linalg.norm(POINTS - mark, axis=1))[:5]
        low, high = PLACES[nearest].min(0), PLACES[nearest].max(0)
        assert ((low - 1e-5 <= placed) & (placed <= high + 1e-5)).all()


def test_few_points_and_none() -> None:
    np.testing.assert_allclose(place_near(POINTS[:1] + 1, POINTS[:1], PLACES[:1]), PLACES[:1])
    assert place_near(np.empty((0, 8)), POINTS, PLACES).shape == (0, 2)
    with pytest.raises(InvalidInputError, match="takes 1"):
        place_near(POINTS, POINTS[:0], PLACES[:0])
    with pytest.raises(ShapeError, match="50 points and 49 places"):
        place_near(POINTS, POINTS, PLACES[1:])
    with pytest.raises(ShapeError, match="marks have shape"):
        place_near(POINTS[:, 1:], POINTS, PLACES)


def test_a_state_that_overflowed_is_near_nothing() -> None:
    points = np.concatenate([POINTS, np.full((2, 8), np.nan, np.float32)])
    points[-1] = np.inf
    places = np.concatenate([PLACES, np.full((2, 2), 1e6, np.float32)])
    marks = np.concatenate([POINTS[:3] + 0.1, np.full((1, 8), np.inf, np.float32)])
    placed = place_near(marks, points, places)
    np.testing.assert_array_equal(placed[:3], place_near(marks[:3], POINTS, PLACES))
    assert np.isnan(placed[3]).all()
