"""Landmarks on a map: placed where a point of the fit would be, and without moving the fit."""

from __future__ import annotations

import numpy as np
import pytest

from hara_viz.analysis.projection import ProjectionConfig, project
from hara_viz.errors import ShapeError


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_pca_places_a_landmark_on_its_point(metric) -> None:
    points = np.random.default_rng(0).normal(size=(40, 9)).astype(np.float32)
    config = ProjectionConfig(method="pca", metric=metric)
    plain = project(points, config)
    marked = project(points, config, landmarks=points[[3, 17]])
    np.testing.assert_array_equal(plain.coordinates, marked.coordinates)
    assert plain.landmarks is None and marked.landmarks is not None
    np.testing.assert_allclose(marked.landmarks, plain.coordinates[[3, 17]], atol=1e-5)


def test_landmarks_of_another_width_are_refused() -> None:
    points = np.zeros((5, 4), np.float32)
    with pytest.raises(ShapeError, match="landmarks have 3 dimensions"):
        project(points, ProjectionConfig(method="pca"), landmarks=np.zeros((2, 3)))


@pytest.mark.slow
def test_umap_places_a_landmark_among_its_cluster() -> None:
    rng = np.random.default_rng(0)
    places = np.eye(3, 8) * 8
    points = np.concatenate([place + 0.3 * rng.normal(size=(30, 8)) for place in places])
    found = project(points, ProjectionConfig(n_neighbors=10), landmarks=places)
    assert found.landmarks is not None
    for cluster, mark in enumerate(found.landmarks):
        gaps = np.linalg.norm(found.coordinates - mark, axis=1)
        assert set(np.argsort(gaps)[:5] // 30) == {cluster}
