"""Projections: closed forms of PCA, repeatable UMAP, a fair choice of points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.analysis.projection import (
    ProjectionConfig,
    fair_choice,
    principal_components,
    project,
)
from hara_viz.errors import InvalidInputError, ShapeError

PCA = ProjectionConfig(method="pca", metric="euclidean")


def two_clusters(n: int = 40, dimensions: int = 12) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    labels = np.arange(n) % 2
    centres = np.eye(dimensions)[:2] * 20
    return centres[labels] + generator.normal(scale=0.3, size=(n, dimensions)), labels


def test_pca_of_a_line_is_the_line() -> None:
    points = np.outer(np.arange(5.0), [3.0, 4.0])  # steps of length 5
    shown = project(points, PCA)
    assert np.allclose(np.diff(shown.coordinates[:, 0]), 5.0, atol=1e-5)
    assert np.allclose(shown.coordinates[:, 1], 0.0, atol=1e-5)
    assert shown.explained == pytest.approx((1.0, 0.0), abs=1e-9)


@pytest.mark.parametrize("shape", [(30, 6), (6, 30)])
def test_pca_keeps_distances_when_it_keeps_all_axes(shape: tuple[int, int]) -> None:
    points = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    scores, shares = principal_components(points, min(shape))
    apart = lambda x: np.linalg.norm(x[:, None] - x[None], axis=-1)  # noqa: E731
    assert np.allclose(apart(scores), apart(points), atol=1e-3)
    assert sum(shares) == pytest.approx(1.0, abs=1e-6)
    assert list(shares) == sorted(shares, reverse=True)


def test_pca_does_not_depend_on_the_order_of_points() -> None:
    points, _ = two_clusters()
    order = np.random.default_rng(2).permutation(len(points))
    assert np.allclose(
        project(points, PCA).coordinates[order], project(points[order], PCA).coordinates, atol=1e-3
    )


def test_equal_points_meet_in_the_origin() -> None:
    shown = project(np.full((5, 3), 7.1), PCA)
    assert not shown.coordinates.any()
    assert shown.explained == (0.0, 0.0)


def test_more_axes_than_dimensions_are_zero() -> None:
    shown = project(np.arange(4.0)[:, None], ProjectionConfig(method="pca", metric="euclidean"))
    assert shown.coordinates.shape == (4, 2)
    assert not shown.coordinates[:, 1].any()


def test_cosine_sees_directions_only() -> None:
    points, _ = two_clusters()
    scaled = points * np.linspace(0.1, 9, len(points))[:, None]
    cosine = ProjectionConfig(method="pca")
    assert np.allclose(
        project(points, cosine).coordinates, project(scaled, cosine).coordinates, atol=1e-4
    )


def test_umap_repeats_itself_and_separates_clusters() -> None:
    points, labels = two_clusters()
    config = ProjectionConfig(n_neighbors=6)
    first, again = project(points, config), project(points, config)
    assert np.array_equal(first.coordinates, again.coordinates)
    assert first.method == "umap"
    centres = [first.coordinates[labels == k].mean(axis=0) for k in (0, 1)]
    spread = max(first.coordinates[labels == k].std() for k in (0, 1))
    assert np.linalg.norm(centres[0] - centres[1]) > 2 * spread


def test_umap_takes_labels_equal_points_and_three_axes() -> None:
    points, labels = two_clusters(n=12)
    points[:] = points[0]
    shown = project(points, ProjectionConfig(n_components=3), labels=labels)
    assert shown.coordinates.shape == (12, 3)
    assert np.isfinite(shown.coordinates).all()
    assert "11 neighbours" in shown.notes[0]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_too_few_points_for_umap_are_shown_by_pca(n: int) -> None:
    shown = project(np.eye(3)[:n], ProjectionConfig())
    assert shown.method == "pca"
    assert shown.coordinates.shape == (n, 2)
    assert f"{n} are shown by PCA" in shown.notes[0]


def test_bad_points_are_refused() -> None:
    with pytest.raises(ShapeError, match="N, D"):
        project(np.empty((0, 4)), PCA)
    with pytest.raises(InvalidInputError, match="point 1 is not finite"):
        project(np.array([[0.0, 1], [np.nan, 0]]), PCA)
    with pytest.raises(ShapeError, match="labels"):
        project(np.eye(3), ProjectionConfig(), labels=np.zeros(2))
    with pytest.raises(InvalidInputError, match="no labels"):
        project(np.eye(3), PCA, labels=np.zeros(3))


@pytest.mark.parametrize(
    ("field", "value"),
    [("method", "tsne"), ("metric", "l1"), ("n_components", 4), ("n_neighbors", 1),
     ("min_dist", 2.0)],
)  # fmt: skip
def test_bad_settings_are_named(field: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=field):
        ProjectionConfig(**{field: value})  # pyright: ignore


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(1, 40))
def test_a_fair_choice_is_even(strata: list[int], cap: int) -> None:
    chosen = fair_choice(strata, cap)
    assert len(chosen) == min(cap, len(strata))
    assert np.array_equal(chosen, np.unique(chosen))
    have = np.bincount(strata, minlength=5)
    got = np.bincount(np.asarray(strata)[chosen], minlength=5)
    # Strata that could give more differ by at most one, and none gave less than an emptied one.
    open_ = got[(have > got)]
    if len(open_):
        assert got.max() <= open_.min() + 1
