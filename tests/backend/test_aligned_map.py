"""The same text under several checkpoints: the same points on each map, kept, and judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hara_viz.analysis.map_quality import map_quality
from hara_viz.analysis.projection import ProjectionConfig, in_metric, principal_axes
from hara_viz.backend import aligned_map
from hara_viz.backend.aligned_map import AlignedRequest, map_aligned, text_readers
from hara_viz.backend.map_cache import FOLDER
from hara_viz.errors import InvalidInputError
from hara_viz.store import open_run
from hara_viz.types import GroupKey
from tests.compared_runs import LAYER, rotation, write_compared
from tests.read_runs import read_by
from tests.small_runs import PENS

WRITER, READER, PARTIAL = "aaaa" * 4, "bbbb" * 4, "dddd" * 4
PCA = ProjectionConfig(method="pca")
KEY = GroupKey(0, PENS.problem_id, 0)


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = write_compared(tmp_path_factory.mktemp("aligned")) / "early"
    read_by(path, READER, LAYER, lambda states: states @ rotation())
    read_by(path, PARTIAL, LAYER, lambda states: -states, keep=lambda sample: sample != 2)
    return path


def request_of(path: Path, **changes: Any) -> AlignedRequest:
    known: dict[str, Any] = {
        "run": str(path),
        "stamp": 0,
        "key": tuple(KEY),
        "layer": LAYER,
        "sources": (WRITER, READER),
        "projection": PCA,
    }
    return AlignedRequest(**known | changes)


def states_of(path: Path, source: str | None) -> np.ndarray:
    found = open_run(path).load_states(KEY, LAYER, source=source)
    assert found is not None
    return in_metric(found.states.float().numpy(), "cosine")


def test_who_has_read_the_text_is_known(early: Path) -> None:
    run = open_run(early)
    asked = ("cccc" * 4, READER, WRITER, READER)
    assert text_readers(run, KEY, LAYER, asked) == (READER, WRITER)
    assert text_readers(run, KEY, 2, asked) == ()


def test_token_by_token_on_axes_that_all_share(early: Path) -> None:
    found = map_aligned(request_of(early))
    slices = [states_of(early, source) for source in (None, READER)]
    assert len(found.points) == found.n_states == len(slices[0]) and found.notes == ()
    axes = principal_axes(np.concatenate(slices), 2)
    for states, shown in zip(slices, found.maps, strict=True):
        np.testing.assert_allclose(shown, axes.scores(states), atol=1e-5)
    group = open_run(early).load_group(KEY)
    places = [(r.sample, t) for r in group.rollouts for t in range(len(r.completion_ids))]
    assert list(zip(found.points["sample"], found.points["token"], strict=True)) == places


def test_figures_tell_the_turn_of_a_basis_from_a_change(early: Path) -> None:
    first, second = map_aligned(request_of(early)).figures
    slices = [states_of(early, source) for source in (None, READER)]
    assert (first.states_kept, first.map_kept) == (None, None)
    # A rotation leaves all neighbours, and axes in common show it as distance all the same.
    assert second.states_kept == pytest.approx(map_quality(slices[0], slices[1]).overlap)
    assert second.states_kept is not None and second.states_kept > 0.99
    assert second.map_kept is not None and second.map_kept < 0.9


def test_rollouts_without_states_under_a_checkpoint_are_left_out_of_all(early: Path) -> None:
    found = map_aligned(request_of(early, sources=(WRITER, PARTIAL, READER)))
    group = open_run(early).load_group(KEY)
    lost = len(group.rollouts[2].completion_ids)
    assert 2 not in set(found.points["sample"]) and len(found.maps) == 3
    assert found.notes == (f"{lost} points lack states under some checkpoint",)
    kept = np.concatenate([np.full(len(r.completion_ids), r.sample != 2) for r in group.rollouts])
    axes = principal_axes(
        np.concatenate([states_of(early, s)[kept] for s in (WRITER, READER)]
                       + [states_of(early, PARTIAL)]), 2
    )  # fmt: skip
    np.testing.assert_allclose(found.maps[1], axes.scores(states_of(early, PARTIAL)), atol=1e-5)


def test_a_cap_takes_the_same_points_on_all_maps(early: Path) -> None:
    found = map_aligned(request_of(early, max_points=40))
    assert len(found.points) == 20 == len(found.maps[0]) == len(found.maps[1])
    assert set(found.points["sample"]) == set(range(6))
    (note,) = found.notes
    assert note.startswith(f"20 of {found.n_states} points are shown on each map")


def test_steps_are_the_same_steps(early: Path) -> None:
    found = map_aligned(request_of(early, granularity="step"))
    assert sum(found.points["n_tokens"].tolist()) == len(states_of(early, None))


def test_what_was_not_read_is_named_with_the_command(early: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"cccccccc has not read early.*hara-viz states"):
        map_aligned(request_of(early, sources=(WRITER, "cccc" * 4)))
    with pytest.raises(InvalidInputError, match="at least 2"):
        map_aligned(request_of(early, sources=(WRITER,)))


@pytest.mark.slow
def test_aligned_maps_are_kept_and_read_the_next_time(
    early: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = ProjectionConfig(n_neighbors=5)
    found = map_aligned(request_of(early, projection=config))
    assert found.method == "umap" and len(list((early / FOLDER).glob("*.npz"))) == 1
    assert all(one.quality.trustworthiness > 0.7 for one in found.figures)

    def fail(*_: object) -> None:
        raise AssertionError("made anew")

    monkeypatch.setattr(aligned_map, "fit_aligned", fail)
    again = map_aligned(request_of(early, projection=config, stamp=1))
    for one, other in zip(found.maps, again.maps, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(AssertionError, match="made anew"):
        map_aligned(request_of(early, projection=replace(config, seed=1)))


def test_the_turn_is_one(early: Path) -> None:
    own, other = (open_run(early).load_states(KEY, LAYER, source=s) for s in (None, READER))
    assert own is not None and other is not None
    expected = own.states.float() @ rotation()
    assert torch.allclose(other.states.float(), expected, atol=0.05)
