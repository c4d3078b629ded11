"""The embedding page over one text that several checkpoints read: slices, figures, the missing."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hara_viz.analysis.projection import ProjectionConfig
from hara_viz.backend.aligned_map import AlignedRequest, map_aligned
from hara_viz.backend.runs import RunSummary
from hara_viz.components.embedding_map import MapFrame, decode
from hara_viz.store import open_run
from hara_viz.ui import map_form
from hara_viz.ui.series import checkpoint_labels, series_readers
from tests.compared_runs import LAYER, rotation, write_compared
from tests.read_runs import read_by
from tests.small_runs import PENS
from tests.ui.apptest import (
    checked,
    component,
    open_app,
    plain,
    selection,
    shown_text,
    table,
    table_of,
    trigger,
)

ROOT = Path(__file__).parents[2]
PAGE = "pages/embedding.py"
LINK = {"run": "late", "problem": PENS.problem_id}
EARLY, LATE = "aaaa" * 4, "bbbb" * 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ "late" was read by the early checkpoint too, "early" by its own alone."""
    found = write_compared(tmp_path_factory.mktemp("aligned-page"))
    read_by(found / "late", EARLY, LAYER, lambda states: states @ rotation())
    return found


@pytest.fixture(autouse=True)
def app_runs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARA_VIZ_RUNS", str(folder))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(folder))
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    monkeypatch.setitem(map_form._DEFAULTS, "method", "pca")


def mapped(link: dict[str, str] = LINK) -> tuple[Any, MapFrame]:
    at = open_app(link, page=PAGE)
    checked(at.selectbox(key="map.scope").select("same").run())
    deadline = time.monotonic() + 120
    while not at.get("bidi_component") or "PCA of" not in shown_text(at):
        assert time.monotonic() < deadline, shown_text(at)
        time.sleep(0.3)
        checked(at.run())
    return at, decode(component(at, "map").bytes)


def expected(folder: Path, method: str = "pca") -> Any:
    return map_aligned(
        AlignedRequest(
            run=str(folder / "late"),
            stamp=0,
            key=(10, PENS.problem_id, 0),
            layer=LAYER,
            sources=(EARLY, LATE),
            projection=ProjectionConfig(method=method),  # pyright: ignore[reportArgumentType]
        )
    )


def test_the_same_text_is_one_slice_for_each_checkpoint(folder: Path) -> None:
    at, frame = mapped()
    found = expected(folder)
    assert [one.name for one in frame.slices] == ["step 0", "step 10"]
    assert frame.slice == 1, "the writer's is shown first"
    for one, places in zip(frame.slices, found.maps, strict=True):
        np.testing.assert_allclose(np.stack([one.x, one.y], 1), places, atol=1e-6)
    np.testing.assert_array_equal(frame.x, frame.slices[1].x)
    assert all(rollout.here for rollout in frame.rollouts), "all are the selected group's"
    said = plain(shown_text(at))
    assert "that step 10 wrote, as 2 checkpoints of its series read them by teacher forcing" in said
    assert "Anchors are 16 evenly spaced places" in said
    shown = table_of(at, "checkpoint")
    assert list(shown["checkpoint"]) == ["step 0", "step 10 (wrote it)"]
    first, second = found.figures
    assert list(shown["trustworthiness"]) == pytest.approx(
        [first.quality.trustworthiness, second.quality.trustworthiness]
    )
    assert shown["states like before"][1] == pytest.approx(100 * (second.states_kept or 0))
    assert np.isnan(shown["states like before"][0])
    assert not [b for b in at.button if b.key == "map.reading"], "nobody is missing"


def test_its_colours_are_the_groups_and_a_lasso_tells_its_texts() -> None:
    at, frame = mapped()
    assert frame.colouring.label == "Novelty"
    trigger(at, "map", "lasso", {"name": frame.name, "points": [3, 4]})
    shown = table(at, "lasso.table")
    assert list(shown["token"]) == frame.token[[3, 4]].tolist()
    checked(at.selectbox(key="map.colour").select("outcome").run())
    again = decode(component(at, "map").bytes)
    assert again.colouring.categories == ("right", "wrong") and again.name == frame.name
    assert selection(at).run == "late"


def test_where_the_text_was_not_read_a_joint_fit_says_why_and_how_to_change_that(
    folder: Path,
) -> None:
    at = open_app({"run": "early", "problem": PENS.problem_id}, page=PAGE)
    checked(at.selectbox(key="map.scope").select("same").run())
    deadline = time.monotonic() + 120
    while "a joint fit" not in shown_text(at):
        assert time.monotonic() < deadline, shown_text(at)
        time.sleep(0.3)
        checked(at.run())
    said = plain(shown_text(at))
    assert "Not aligned, for its checkpoints have not read the same text" in said
    assert "Not read by step 10." in said
    frame = decode(component(at, "map").bytes)
    assert frame.slices == () and frame.colouring.label == "Checkpoint"
    assert at.button(key="map.reading").label == "Let 1 checkpoint read this run"


def test_checkpoints_of_a_series_stand_once_and_in_the_order_of_training(folder: Path) -> None:
    def summary(name: str) -> RunSummary:
        return RunSummary(path=folder / name, name=name, info=open_run(folder / name).info)

    known = [summary(name) for name in ("late", "early", "stranger")]
    readers = series_readers("late", known)
    assert [(r.label, r.fingerprint, r.is_writer) for r in readers] == [
        ("step 0", EARLY, False),
        ("step 10", LATE, True),
    ]
    assert [r.is_writer for r in series_readers("stranger", known)] == [True]
    assert series_readers("gone", known) == ()


def test_two_checkpoints_of_one_training_step_go_by_their_runs_names(folder: Path) -> None:
    early, late = (open_run(folder / name).info for name in ("early", "late"))
    twin = replace(late, global_step=early.global_step)
    labels = checkpoint_labels({"early": early, "again": early, "twin": twin, "late": late})
    assert labels == {"early": "early", "again": "again", "twin": "twin", "late": "step 10"}
    assert checkpoint_labels({"early": early, "again": early}) == dict.fromkeys(
        ("early", "again"), "step 0"
    )
    assert checkpoint_labels({"x": replace(late, global_step=None)}) == {"x": "x"}


@pytest.mark.slow
def test_aligned_umap_takes_the_place_of_pca_once_it_is_there(folder: Path) -> None:
    at, by_pca = mapped()
    checked(at.selectbox(key="map.method").select("umap").run())
    deadline = time.monotonic() + 240
    while "AlignedUMAP of the same" not in shown_text(at):
        assert time.monotonic() < deadline, shown_text(at)
        assert "PCA of the same" in shown_text(at), "meanwhile the same points by PCA"
        time.sleep(1)
        checked(at.run())
    frame = decode(component(at, "map").bytes)
    assert len(frame.slices) == 2 and frame.name != by_pca.name
    for one, places in zip(frame.slices, expected(folder, "umap").maps, strict=True):
        np.testing.assert_allclose(np.stack([one.x, one.y], 1), places, atol=1e-6)


@pytest.mark.slow
def test_a_click_lets_the_checkpoints_read_and_their_maps_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("grpo-000", "grpo-025"):
        shutil.copytree(ROOT / "assets" / "demo" / "runs" / name, tmp_path / "runs" / name)
    monkeypatch.setenv("HARA_VIZ_RUNS", str(tmp_path / "runs"))
    # The demo's runs name their weights as they lie below the checkout.
    monkeypatch.setenv("HARA_VIZ_ROOTS", os.pathsep.join([str(tmp_path / "runs"), str(ROOT)]))
    at = open_app({"run": "grpo-025"}, page=PAGE)
    checked(at.selectbox(key="map.scope").select("same").run())
    assert "Not read by step 0." in plain(shown_text(at))
    checked(at.button(key="map.reading").click().run())
    deadline = time.monotonic() + 240
    while "PCA of the same" not in shown_text(at):
        assert time.monotonic() < deadline, shown_text(at)
        time.sleep(1)
        checked(at.run())
    assert [s.name for s in decode(component(at, "map").bytes).slices] == ["step 0", "step 25"]
    assert not [b for b in at.button if b.key == "map.reading"]
