"""A map of many groups: all points once, one fit, the rest placed where the fit would have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from hara_viz.analysis.projection import ProjectionConfig, principal_axes
from hara_viz.backend import joint_map
from hara_viz.backend.joint_map import JointRequest, MapPlace, map_jointly
from hara_viz.backend.joint_seeds import joint_seed_overlaps
from hara_viz.backend.side_process import SideProcess
from hara_viz.errors import InvalidInputError
from hara_viz.store import open_run
from hara_viz.types import Progress

PCA = ProjectionConfig(method="pca")


def request_of(run: Path, **changes: Any) -> JointRequest:
    keys = open_run(run).keys()
    places = tuple(MapPlace(str(run), 0, (k.global_step, k.problem_id, k.group)) for k in keys)
    return JointRequest(**{"places": places, "layer": 4, "projection": PCA} | changes)


def unit_states(run: Path) -> np.ndarray:
    opened = open_run(run)
    keys = opened.keys()
    kept = [opened.load_states(key, 4) for key in keys]
    states = torch.cat([found.states.float() for found in kept if found is not None])
    return torch.nn.functional.normalize(states, dim=1).numpy()


def test_all_groups_are_laid_out_by_one_fit(small_run: Path) -> None:
    found = map_jointly(request_of(small_run))
    states = unit_states(small_run)
    assert len(found.points) == found.n_states == len(states) and all(found.points["in_fit"])
    expected = principal_axes(states, 2).scores(states)
    np.testing.assert_allclose(found.points[["x", "y"]], expected, atol=1e-5)
    assert set(found.points["place"]) == {0, 1, 2} and found.notes == ()
    assert found.quality is not None and found.n_compared == len(states)


def test_what_the_fit_leaves_out_is_placed_by_it_and_said(small_run: Path) -> None:
    found = map_jointly(request_of(small_run, max_fit=30))
    states = unit_states(small_run)
    assert len(found.points) == len(states)
    inside = found.points["in_fit"].to_numpy(bool)
    # Evenly over groups: 30 points over three groups with at least ten each.
    assert list(found.points[inside].groupby("place").size()) == [10, 10, 10]
    axes = principal_axes(states[inside], 2)
    np.testing.assert_allclose(found.points[["x", "y"]], axes.scores(states), atol=1e-5)
    assert found.notes == (
        f"the map was fitted to 30 points, drawn evenly over groups; the other {len(states) - 30} "
        "were placed on it",
    )


def test_steps_cover_all_tokens(small_run: Path) -> None:
    found = map_jointly(request_of(small_run, granularity="step"))
    assert sum(found.points["n_tokens"].tolist()) == len(unit_states(small_run))
    assert len(found.points) < len(unit_states(small_run))


def test_progress_names_groups_and_points(small_run: Path) -> None:
    heard: list[Progress] = []
    map_jointly(request_of(small_run, max_fit=30), heard.append)
    assert {step.unit for step in heard} == {"groups", "maps", "points"}
    placed = [step for step in heard if step.unit == "points"]
    assert placed[-1].done == placed[-1].total == len(unit_states(small_run)) - 30


def test_missing_states_are_counted_or_refused(small_runs: Path) -> None:
    small, bare = small_runs / "small", small_runs / "no-states"
    both = (*request_of(small).places, *request_of(bare).places)
    notes = map_jointly(request_of(small, places=both)).notes
    assert notes == (f"{len(both) - 3} of {len(both)} groups have no states of layer 4",)
    with pytest.raises(InvalidInputError, match="hara-viz states"):
        map_jointly(request_of(bare))


def test_the_side_process_hands_on_progress(small_run: Path) -> None:
    process = SideProcess()
    try:
        found = process.submit(map_jointly, request_of(small_run)).result(timeout=120)
        assert process.progress is not None and process.progress.unit == "maps"
        np.testing.assert_array_equal(
            found.points["x"], map_jointly(request_of(small_run)).points["x"]
        )
    finally:
        process.close()


@pytest.mark.slow
def test_a_umap_is_made_once_and_read_the_next_time(
    small_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = ProjectionConfig(n_neighbors=5, metric="euclidean")
    request = request_of(small_run, max_fit=60, projection=config)
    found = map_jointly(request)
    assert np.isfinite(found.points[["x", "y"]].to_numpy()).all()
    (first, second) = joint_seed_overlaps(request, (0, 1))
    assert first == 1.0, "the map's own seed gives the map"
    assert 0.1 < second < 1.0

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("made anew")

    monkeypatch.setattr(joint_map, "fit_map", fail)
    # Another stamp is the same content here, and the name follows the content.
    places = tuple(place._replace(stamp=1) for place in request.places)
    again = map_jointly(request_of(small_run, max_fit=60, projection=config, places=places))
    pd.testing.assert_frame_equal(again.points, found.points)
    np.testing.assert_array_equal(again.projection.coordinates, found.projection.coordinates)
    assert (again.quality, again.notes, again.n_compared) == (
        found.quality, found.notes, found.n_compared
    )  # fmt: skip
    for changes in ({"max_fit": 50}, {"granularity": "step"}, {"places": places[:2]}):
        with pytest.raises(AssertionError, match="made anew"):
            map_jointly(request_of(small_run, **{"projection": config, "max_fit": 60} | changes))
