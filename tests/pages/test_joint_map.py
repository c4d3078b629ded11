"""The embedding page over several groups: all of a run, and one problem under all checkpoints."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hara_viz.components.embedding_map import MapFrame, decode
from hara_viz.store import open_run
from hara_viz.ui import map_form
from hara_viz.ui.data import RunSummary
from hara_viz.ui.series import series_runs
from tests.compared_runs import LAYER, write_compared
from tests.small_runs import PENS
from tests.ui.apptest import checked, component, open_app, selection, shown_text, trigger

PAGE = "pages/embedding.py"
LINK = {"run": "late", "problem": PENS.problem_id}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_compared(tmp_path_factory.mktemp("joint"))


@pytest.fixture(autouse=True)
def app_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARA_VIZ_RUNS", str(folder))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(folder))
    monkeypatch.setitem(map_form._DEFAULTS, "method", "pca")


def n_tokens(folder: Path, run: str, problem: str | None = None) -> int:
    opened = open_run(folder / run)
    keys = [key for key in opened.keys() if problem in (None, key.problem_id)]  # noqa: SIM118
    kept = [opened.load_states(key, LAYER) for key in keys]
    return sum(len(found.states) for found in kept if found is not None)


def mapped(scope: str, link: dict[str, str] = LINK) -> tuple[Any, MapFrame]:
    """The page in a scope, once the side process has answered."""
    at = open_app(link, page=PAGE)
    checked(at.selectbox(key="map.scope").select(scope).run())
    deadline = time.monotonic() + 120
    while "a joint fit" not in shown_text(at):
        assert time.monotonic() < deadline, shown_text(at)
        time.sleep(0.3)
        checked(at.run())
    return at, decode(component(at, "map").bytes)


def test_a_problem_under_all_checkpoints_is_one_map_coloured_by_them(folder: Path) -> None:
    at, frame = mapped("checkpoints")
    sizes = [n_tokens(folder, run, PENS.problem_id) for run in ("early", "late")]
    assert len(frame.x) == sum(sizes)
    assert frame.colouring.categories == ("step 0", "step 10")
    assert [int((frame.colouring.values == i).sum()) for i in (0, 1)] == sizes
    assert {(r.group, r.here) for r in frame.rollouts} == {("step 0", False), ("step 10", True)}
    said = shown_text(at)
    assert "compared by their raw coordinates" in said and "of 2 groups" in said
    checked(at.selectbox(key="map.joint_colour").select("outcome").run())
    assert decode(component(at, "map").bytes).colouring.categories == ("right", "wrong")


def test_a_point_of_another_checkpoint_leads_there_and_the_map_stays() -> None:
    at, frame = mapped("checkpoints")
    point = next(i for i, row in enumerate(frame.row) if not frame.rollouts[row].here) + 3
    trigger(at, "map", "visit", {"name": frame.name, "point": point})
    chosen = selection(at)
    assert chosen.run == "early" and chosen.problem == PENS.problem_id
    assert chosen.sample == frame.rollouts[frame.row[point]].sample
    assert chosen.token == int(frame.token[point])
    again = decode(component(at, "map").bytes)
    assert again.name == frame.name and again.rollouts[again.row[point]].here
    np.testing.assert_array_equal(again.x, frame.x)


@pytest.mark.parametrize("said", [None, 3, {"name": "x", "point": 1}, {"point": "1"}])
def test_a_visit_that_makes_no_sense_moves_nothing(said: object) -> None:
    at, _ = mapped("checkpoints")
    before = selection(at)
    trigger(at, "map", "visit", said)
    assert selection(at) == before


def test_all_groups_of_a_run(folder: Path) -> None:
    at, frame = mapped("run")
    assert len(frame.x) == n_tokens(folder, "late")
    assert frame.colouring.label == "Outcome"
    assert sum(rollout.here for rollout in frame.rollouts) == 6
    assert "raw coordinates" not in shown_text(at)
    checked(at.selectbox(key="map.joint_colour").select("position").run())
    values = decode(component(at, "map").bytes).colouring.values
    assert (values.min(), values.max()) == (0.0, 1.0)


def test_a_run_without_a_series_stands_alone(folder: Path) -> None:
    def summary(name: str) -> RunSummary:
        return RunSummary(path=folder / name, name=name, info=open_run(folder / name).info)

    known = [summary(name) for name in ("late", "early", "stranger")]
    assert series_runs("late", known) == ("early", "late")
    assert series_runs("stranger", known) == ("stranger",)
    assert series_runs("gone", known) == ("gone",)


def test_paths_are_those_of_the_selected_group() -> None:
    at, frame = mapped("run", LINK | {"paths": "1-2"})
    drawn = [frame.rollouts[row] for row in frame.paths]
    assert [(rollout.sample, rollout.here) for rollout in drawn] == [(1, True), (2, True)]
    trigger(at, "map", "path", {"name": frame.name, "sample": 2})
    assert selection(at).paths == (1,)
