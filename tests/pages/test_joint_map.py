"""The embedding page over several groups: all of a run, and one problem under all checkpoints."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hara_viz.backend.credit import GroupCredit, credit_group
from hara_viz.components.embedding_map import MapFrame, decode
from hara_viz.credit import CreditConfig
from hara_viz.store import open_run
from hara_viz.ui import map_form
from hara_viz.ui.data import RunSummary
from hara_viz.ui.series import series_runs
from tests.compared_runs import LAYER, write_compared
from tests.small_runs import PENS
from tests.ui.apptest import (
    checked,
    click_row,
    component,
    open_app,
    plain,
    selection,
    shown_text,
    table,
    table_of,
    trigger,
)

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


def settled(at: Any, done: Callable[[MapFrame], bool]) -> MapFrame:
    """The frame once what the side process works on has come."""
    deadline = time.monotonic() + 120
    while not done(frame := decode(component(at, "map").bytes)):
        assert time.monotonic() < deadline, shown_text(at)
        time.sleep(0.3)
        checked(at.run())
    return frame


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


def credits(folder: Path, run: str) -> list[GroupCredit]:
    opened = open_run(folder / run)
    return [credit_group(opened, key, CreditConfig(), LAYER) for key in opened.keys()]  # noqa: SIM118


def test_atoms_of_the_selected_group_or_of_all(folder: Path) -> None:
    at, _ = mapped("run")
    frame = settled(at, lambda frame: bool(frame.atoms))
    found = credits(folder, "late")
    sizes = [sum(len(o.plans[0][0]) for o in c.credit.outcomes if o.plans) for c in found]
    own = next(i for i, c in enumerate(found) if c.group.key.problem_id == PENS.problem_id)
    assert len(frame.atoms) == sizes[own]
    assert {atom.group for atom in frame.atoms} == {
        rollout.group for rollout in frame.rollouts if rollout.here
    }
    words = {"".join(c.text for c in r.cells).lower() for r in frame.rollouts if r.here}
    for atom in frame.atoms:
        said = [word for word in atom.text.lower().split(" / ") if word != "␣"]
        assert all(any(word in text for text in words) for word in said)
    assert f"Diamonds: {sizes[own]} barycenter atoms of the selected group" in shown_text(at)
    assert "placed by PCA's axes" in shown_text(at)

    checked(at.selectbox(key="map.atoms").select("all").run())
    frame = settled(at, lambda frame: len(frame.atoms) > sizes[own])
    assert len(frame.atoms) == sum(sizes)
    checked(at.selectbox(key="map.atoms").select("none").run())
    assert decode(component(at, "map").bytes).atoms == ()


def test_any_signal_is_a_colour_and_unknown_stays_unknown(folder: Path) -> None:
    at, before = mapped("run")
    checked(at.selectbox(key="map.joint_colour").select("novelty").run())
    frame = settled(at, lambda frame: frame.colouring.label == "Novelty")
    assert frame.name == before.name
    np.testing.assert_array_equal(frame.x, before.x)
    expected = np.concatenate([c.credit.novelty.numpy() for c in credits(folder, "late")])
    known = ~np.isnan(frame.colouring.values)
    np.testing.assert_allclose(frame.colouring.values[known], expected[known], rtol=1e-4, atol=1e-6)
    assert not expected[~known].any(), "where credit holds zeros for nothing to compare with"
    n_unknown = int((~known).sum())
    assert n_unknown and f"Novelty is unknown for {n_unknown} points" in shown_text(at)
    domain = frame.colouring.domain
    assert domain is not None
    np.testing.assert_allclose(domain, np.quantile(expected[known], [0.02, 0.98]), rtol=1e-4)
    checked(at.selectbox(key="map.joint_colour").select("weight").run())
    frame = settled(at, lambda frame: frame.colouring.label == "Weight − 1")
    low, high = frame.colouring.domain or (0, 0)
    assert frame.colouring.kind == "signed" and low == -high


def test_a_lasso_over_groups_tells_whose_texts_they_are_and_leads_there() -> None:
    at, frame = mapped("checkpoints")
    here = [i for i, row in enumerate(frame.row) if frame.rollouts[row].here]
    there = [i for i, row in enumerate(frame.row) if not frame.rollouts[row].here]
    chosen = [there[0], there[5], here[7]]
    trigger(at, "map", "lasso", {"name": frame.name, "points": chosen})
    shown = table(at, "lasso.groups")
    rollouts = [frame.rollouts[frame.row[i]] for i in chosen]
    assert list(shown["group"]) == ["step 0", "step 0", "step 10"]
    assert list(shown["rollout"]) == [rollout.sample for rollout in rollouts]
    assert sum(table_of(at, "reasoning step")["points in it"].tolist()) == 3
    label = at.button(key="among.open").label
    assert plain(label) == f"Show it alone: rollout {rollouts[2].sample}", "of the selected group"
    click_row(at, "lasso.groups", 1)
    moved = selection(at)
    assert (moved.run, moved.sample, moved.token) == (
        "early", rollouts[1].sample, int(frame.token[there[5]])
    )  # fmt: skip


def test_figures_stand_beside_it() -> None:
    at, frame = mapped("run")
    labels = ["Trustworthiness", "Neighbours kept", "Other seeds", "Points"]
    assert [m.label for m in at.metric] == labels
    assert [m.value for m in at.metric][2:] == ["same map", str(len(frame.x))]


@pytest.mark.slow
def test_a_umap_of_many_groups_is_drawn_with_other_seeds_on_request() -> None:
    at = open_app(LINK, page=PAGE)
    checked(at.selectbox(key="map.scope").select("run").run())
    checked(at.selectbox(key="map.method").select("umap").run())
    deadline = time.monotonic() + 240
    while "UMAP of" not in shown_text(at):
        assert time.monotonic() < deadline, shown_text(at)
        time.sleep(1)
        checked(at.run())
    # The first map makes the folder it is kept in, so the run looks changed, and it is read back.
    while not at.get("bidi_component") or "Diamonds" not in shown_text(at):
        assert time.monotonic() < deadline, shown_text(at)
        time.sleep(0.3)
        checked(at.run())
    assert decode(component(at, "map").bytes).atoms
    assert "weighted mean of the places of the 5 states nearest" in shown_text(at)
    checked(at.button(key="map.seeds").click().run(timeout=240))
    (seeds,) = [m.value for m in at.metric if m.label == "Other seeds"]
    shares = [int(part.split()[0]) for part in seeds.split(" · ")]
    assert len(shares) == 2 and all(10 < share <= 100 for share in shares)
