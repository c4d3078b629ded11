"""Maps of states: every point is the token it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hara_viz.backend.project import ProjectionConfig, project_groups
from hara_viz.errors import InvalidInputError
from hara_viz.store import open_run

PCA = ProjectionConfig(method="pca", metric="euclidean")


def test_each_point_is_the_state_of_its_token(small_run: Path) -> None:
    run = open_run(small_run)
    keys = run.keys()
    shown = project_groups(run, keys, 2, PCA)
    assert len(shown.points) == shown.n_states == sum(sum(run.place(k)["lengths"]) for k in keys)
    # PCA is linear: distances in the map never exceed those of the states.
    two = shown.points.iloc[[0, 25]]
    vectors = []
    for _, point in two.iterrows():
        key = next(k for k in keys if k.problem_id == point["problem_id"])
        states = run.load_states(key, 2)
        assert states is not None
        samples = [rollout.sample for rollout in run.load_group(key).rollouts]
        vectors.append(states.rows(samples.index(point["sample"]))[int(point["token"])].float())
    apart = float((vectors[0] - vectors[1]).norm())
    drawn = np.linalg.norm(two[["x", "y"]].to_numpy()[0] - two[["x", "y"]].to_numpy()[1])
    assert 0 < drawn <= apart + 1e-3


def test_steps_are_fewer_and_cover_all_tokens(small_run: Path) -> None:
    run = open_run(small_run)
    key = run.keys()[0]
    tokens = project_groups(run, [key], 2, PCA)
    steps = project_groups(run, [key], 2, PCA, granularity="step")
    assert len(steps.points) < len(tokens.points)
    assert steps.points["n_tokens"].to_numpy().sum() == len(tokens.points)


def test_a_cap_leaves_points_of_every_rollout_and_says_so(small_run: Path) -> None:
    run = open_run(small_run)
    key = run.keys()[0]
    shown = project_groups(run, [key], 2, PCA, max_points=30)
    assert len(shown.points) == 30
    assert set(shown.points["sample"]) == set(range(6))
    assert any("30 of" in note for note in shown.notes)


def test_a_map_needs_states_and_groups(small_runs: Path) -> None:
    run = open_run(small_runs / "no-states")
    with pytest.raises(InvalidInputError, match="hara-viz states"):
        project_groups(run, run.keys(), None, PCA)
    run = open_run(small_runs / "small")
    with pytest.raises(InvalidInputError, match="names no groups"):
        project_groups(run, (), 2, PCA)
    with pytest.raises(InvalidInputError, match="no states of layer 3"):
        project_groups(run, run.keys(), 3, PCA)
    with pytest.raises(InvalidInputError, match="granularity"):
        project_groups(run, run.keys(), 2, PCA, granularity="word")
