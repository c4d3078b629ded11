"""Maps that are kept with their run: round trip, damage, names, and the map read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hara_viz.analysis.projection import ProjectionConfig
from hara_viz.backend.map_cache import FOLDER, keep_map, kept_map, kept_projection, map_name


def test_a_kept_map_comes_back_as_it_was(tmp_path: Path) -> None:
    arrays = {"coordinates": np.arange(6, dtype=np.float32).reshape(3, 2)}
    assert keep_map(tmp_path, "a", arrays, {"method": "umap"}) is None
    held = kept_map(tmp_path, "a")
    assert held is not None and held[1] == {"method": "umap"}
    np.testing.assert_array_equal(held[0]["coordinates"], arrays["coordinates"])
    assert kept_map(tmp_path, "b") is None
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["a.npz"], "nothing half done"


def test_a_damaged_map_is_none_and_is_never_unpickled(tmp_path: Path) -> None:
    keep_map(tmp_path, "a", {"coordinates": np.zeros((3, 2), np.float32)}, {})
    path = tmp_path / FOLDER / "a.npz"
    good = path.read_bytes()
    for length in (0, 10, len(good) // 2):
        path.write_bytes(good[:length])
        assert kept_map(tmp_path, "a") is None
    with path.open("wb") as file:
        np.savez(file, about=np.array([{"pickled": 1}], dtype=object))
    assert kept_map(tmp_path, "a") is None


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in the way")
    why = keep_map(tmp_path, "a", {}, {})
    assert why is not None and FOLDER in why


def test_the_name_of_a_map_hangs_on_points_and_settings() -> None:
    points = np.zeros((4, 3), np.float32)
    name = map_name({"points": points, "labels": None}, {"seed": 0})
    assert name == map_name({"labels": None, "points": points.copy()}, {"seed": 0})
    other = points.copy()
    other[3, 2] = 1e-7
    others = [
        map_name({"points": other, "labels": None}, {"seed": 0}),
        map_name({"points": points, "labels": np.zeros(4)}, {"seed": 0}),
        map_name({"points": points, "labels": None}, {"seed": 1}),
        map_name({"points": points.reshape(3, 4), "labels": None}, {"seed": 0}),
    ]
    assert len({name, *others}) == 5


def test_a_umap_is_made_once_and_read_the_next_time(tmp_path: Path) -> None:
    points = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    config = ProjectionConfig(n_neighbors=5)
    first = kept_projection(tmp_path, points, config, None, points[:2])
    (kept,) = (tmp_path / FOLDER).iterdir()
    before = kept.stat().st_mtime_ns
    again = kept_projection(tmp_path, points, config, None, points[:2])
    assert kept.stat().st_mtime_ns == before, "read, not made anew"
    np.testing.assert_array_equal(first.coordinates, again.coordinates)
    assert first.landmarks is not None and again.landmarks is not None
    np.testing.assert_array_equal(first.landmarks, again.landmarks)
    assert (first.method, first.explained, first.notes) == (
        again.method, again.explained, again.notes
    )  # fmt: skip
    kept_projection(tmp_path, points, ProjectionConfig(method="pca"), None, None)
    assert len(list((tmp_path / FOLDER).iterdir())) == 1, "PCA is as quick as reading"
