"""Atoms and signals on a map of many groups, against what each group gives alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hara_viz.analysis.landmarks import place_near
from hara_viz.analysis.projection import ProjectionConfig, in_metric, principal_axes
from hara_viz.analysis.signals import signal_values
from hara_viz.backend.credit import credit_group
from hara_viz.backend.joint_map import JointRequest, map_jointly
from hara_viz.backend.joint_marks import joint_atoms
from hara_viz.backend.joint_signals import joint_signals
from hara_viz.backend.state_map import atom_landmarks
from hara_viz.backend.transport import transport_group
from hara_viz.credit import CreditConfig
from hara_viz.store import open_run
from hara_viz.types import GroupKey
from tests.backend.test_joint_map import request_of, unit_states
from tests.small_runs import PENS

CONFIG = CreditConfig()


def credit_of(request: JointRequest, config: CreditConfig = CONFIG) -> tuple[tuple[str, str], ...]:
    return tuple({(place.run, config.to_json()) for place in request.places})


def place_of(request: JointRequest, problem: str) -> int:
    return next(i for i, place in enumerate(request.places) if place.key[1] == problem)


def test_atoms_of_a_group_stand_where_the_axes_have_them(small_run: Path) -> None:
    request = request_of(small_run)
    place = place_of(request, PENS.problem_id)
    found = joint_atoms(request, credit_of(request), (place,))
    run, key = open_run(small_run), GroupKey(*request.places[place].key)
    marks = atom_landmarks(run, transport_group(run, key, CONFIG, 4), "cosine")
    assert marks is not None and found.how == "by PCA's axes"
    assert list(found.table["success"]) == list(marks.names["success"])
    assert set(found.table["place"]) == {place} and found.n_without == 0
    axes = principal_axes(unit_states(small_run), 2)
    expected = axes.scores(in_metric(marks.centres, "cosine"))
    np.testing.assert_allclose(found.table[["x", "y"]], expected, atol=1e-5)
    # Its words are those of real tokens of that group.
    lengths = {r.sample: len(r.completion_ids) for r in run.load_group(key).rollouts}
    for mentions in found.table["mentions"]:
        assert 1 <= len(mentions) <= 3
        assert all(0 <= token < lengths[sample] for sample, token in mentions)


def test_atoms_of_all_groups_and_how_many_have_none(small_runs: Path) -> None:
    small, bare = small_runs / "small", small_runs / "no-states"
    request = request_of(small, places=(*request_of(small).places, *request_of(bare).places))
    every = tuple(range(len(request.places)))
    found = joint_atoms(request, credit_of(request), every)
    alone = [joint_atoms(request, credit_of(request), (place,)) for place in every]
    assert len(found.table) == sum(len(one.table) for one in alone)
    assert found.n_without == sum(one.n_without for one in alone) >= len(every) - 3
    nothing = joint_atoms(request, credit_of(request), (len(every) - 1,))
    assert not len(nothing.table) and list(nothing.table.columns[-2:]) == ["x", "y"]


def test_signals_are_those_of_each_group_alone(small_run: Path) -> None:
    request = request_of(small_run)
    found = joint_signals(request, credit_of(request))
    points, run = map_jointly(request).points, open_run(small_run)
    assert found.n_refused == 0
    for number, place in enumerate(request.places):
        own = np.flatnonzero(points["place"] == number)
        credit = credit_group(run, GroupKey(*place.key), CONFIG, 4)
        for name in ("weight", "entropy", "shift"):
            expected = signal_values(name, credit.group, credit.credit)
            got = found.values[name][own]
            if expected is None:
                assert np.isnan(got).all()
            else:
                np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        expected = signal_values("novelty", credit.group, credit.credit)
        known = np.concatenate(
            [
                np.full(len(rollout.completion_ids), credit.mean_novelty(row) is not None)
                for row, rollout in enumerate(credit.group.rollouts)
            ]
        )
        assert expected is not None
        np.testing.assert_allclose(found.values["novelty"][own][known], expected[known], rtol=1e-5)
        assert np.isnan(found.values["novelty"][own][~known]).all()
    assert np.isnan(found.values["recorded"]).all(), "nobody recorded any"


def test_a_step_has_the_mean_of_its_tokens(small_run: Path) -> None:
    tokens, steps = request_of(small_run), request_of(small_run, granularity="step")
    by_token = joint_signals(tokens, credit_of(tokens)).values["entropy"]
    by_step = joint_signals(steps, credit_of(steps)).values["entropy"]
    of_tokens, of_steps = map_jointly(tokens).points, map_jointly(steps).points
    for i in (0, 3, len(of_steps) - 1):
        step = of_steps.iloc[i]
        is_own = (of_tokens["place"] == step["place"]) & (of_tokens["sample"] == step["sample"])
        ends = (step["token"], step["token"] + step["n_tokens"] - 1)
        own = by_token[is_own & of_tokens["token"].between(*ends)]
        assert by_step[i] == pytest.approx(float(np.nanmean(own)), rel=1e-5, nan_ok=True)


def test_credit_without_novelty_has_none(small_run: Path) -> None:
    request = request_of(small_run)
    refused = joint_signals(request, credit_of(request, replace(CONFIG, signal="uniform")))
    assert np.isnan(refused.values["novelty"]).all(), "uniform GRPO has no novelty"
    assert np.nanmax(np.abs(refused.values["weight"])) == 0.0
    assert np.isfinite(refused.values["before"]).all()


def test_credit_that_cannot_be_had_leaves_the_other_signals(small_run: Path) -> None:
    request = request_of(small_run)
    found = joint_signals(
        request, credit_of(request, replace(CONFIG, anchors="prompt", structure="state"))
    )
    assert found.n_refused == len(request.places), "the run keeps no states of its prompts"
    for name in ("novelty", "feature", "structure", "weight", "advantage", "shift"):
        assert np.isnan(found.values[name]).all(), name
    plain = joint_signals(request, credit_of(request)).values
    for name in ("entropy", "before"):
        np.testing.assert_array_equal(found.values[name], plain[name])


@pytest.mark.slow
def test_on_a_umap_atoms_stand_among_their_nearest_states(small_run: Path) -> None:
    request = request_of(small_run, projection=ProjectionConfig(n_neighbors=5))
    place = place_of(request, PENS.problem_id)
    found = joint_atoms(request, credit_of(request), (place,))
    assert found.how.startswith("at the weighted mean of the places of the 5 states nearest")
    run, key = open_run(small_run), GroupKey(*request.places[place].key)
    marks = atom_landmarks(run, transport_group(run, key, CONFIG, 4), "cosine")
    assert marks is not None
    shown = map_jointly(request).points[["x", "y"]].to_numpy()
    expected = place_near(in_metric(marks.centres, "cosine"), unit_states(small_run), shown)
    np.testing.assert_allclose(found.table[["x", "y"]], expected, atol=1e-5)
