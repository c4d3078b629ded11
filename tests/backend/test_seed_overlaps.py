"""Maps of the same points under other seeds, against neighbours that scikit-learn finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from hara_viz.analysis.projection import ProjectionConfig, project
from hara_viz.backend.project import group_points
from hara_viz.backend.state_map import MapRequest, map_group, seed_overlaps
from hara_viz.types import GroupKey
from tests.small_runs import PENS


def request_of(run: Path, method: str, max_points: int = 3000) -> MapRequest:
    return MapRequest(
        run=str(run),
        stamp=0,
        key=(None, PENS.problem_id, 0),
        layer=4,
        projection=ProjectionConfig(method=method, n_neighbors=10),  # pyright: ignore[reportArgumentType]
        max_points=max_points,
    )


def test_pca_is_the_same_under_all_seeds_on_the_points_that_are_shown(small_run: Path) -> None:
    assert seed_overlaps(request_of(small_run, "pca"), (1, 2)) == pytest.approx((1, 1), abs=0.02)
    # Left-out points follow the seed; compared are the very ones that the map shows.
    few = seed_overlaps(request_of(small_run, "pca", max_points=30), (5,))
    assert few == pytest.approx((1,), abs=0.05)


@pytest.mark.slow
def test_umap_differs_by_the_share_that_scikit_learn_counts(small_run: Path) -> None:
    request = request_of(small_run, "umap")
    (found,) = seed_overlaps(request, (7,))
    base = map_group(request).states.points[["x", "y"]].to_numpy()
    points, _ = group_points_of(small_run)
    other = project(points, ProjectionConfig(n_neighbors=10, seed=7)).coordinates
    near = [
        NearestNeighbors(n_neighbors=10).fit(places).kneighbors(return_distance=False)
        for places in (base, other)
    ]
    shared = [len(set(a) & set(b)) / 10 for a, b in zip(*near, strict=True)]
    assert found == pytest.approx(np.mean(shared), abs=1e-6) and 0.2 < found < 1


def group_points_of(run: Path) -> tuple[np.ndarray, object]:
    from hara_viz.store import open_run

    return group_points(open_run(run), GroupKey(None, PENS.problem_id, 0), 4, "token")
