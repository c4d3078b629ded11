"""Null, starts and sensitivity: they repeat the one credit computation, nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hara_viz.analysis.ranks import spearman
from hara_viz.backend.credit import credit_of
from hara_viz.backend.doubt import other_starts, shuffled_outcomes
from hara_viz.backend.sensitivity import Variation, agreement_of, solve_seconds, variations
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.store import open_run
from hara_viz.types import GroupKey, RolloutGroup
from tests.small_runs import PENS

KEY = (None, PENS.problem_id, 0)
CONFIG = CreditConfig()


def novelty(run: Path, config: CreditConfig, layer: int = 4, rewards=None) -> np.ndarray:
    opened = open_run(run)
    group = opened.load_group(GroupKey(*KEY))
    if rewards is not None:
        group = RolloutGroup(
            tuple(replace(r, reward=x) for r, x in zip(group.rollouts, rewards, strict=True))
        )
    found = credit_of(group, opened.load_states(group.key, layer), config)
    return found.credit.novelty.double().numpy()


def test_the_outcomes_as_they_are_give_the_novelty_as_it_is(small_run: Path) -> None:
    (draw,) = shuffled_outcomes(str(small_run), 0, KEY, CONFIG.to_json(), None, ((0, 1, 2),))
    expected = novelty(small_run, CONFIG)
    np.testing.assert_allclose(draw.novelty, expected, rtol=1e-6)
    n_right = sum(len(open_run(small_run).load_group(GroupKey(*KEY)).rollouts[r].completion_ids)
                  for r in range(3))  # fmt: skip
    right = expected[:n_right]
    np.testing.assert_allclose(draw.z[:n_right], (right - right.mean()) / right.std(), atol=1e-3)
    assert draw.separation is not None and draw.separation > 0


def test_shuffled_outcomes_are_those_of_other_rewards(small_run: Path) -> None:
    labels = ((0, 3, 4), (1, 2, 5))
    draws = shuffled_outcomes(str(small_run), 0, KEY, CONFIG.to_json(), 2, labels)
    for draw, right in zip(draws, labels, strict=True):
        rewards = [1.0 if row in right else 0.0 for row in range(6)]
        np.testing.assert_allclose(draw.novelty, novelty(small_run, CONFIG, 2, rewards), rtol=1e-6)
    # Right and wrong changing places leaves the classes as they are.
    mirrored = shuffled_outcomes(
        str(small_run), 0, KEY, CONFIG.to_json(), 2, ((1, 2, 5), (0, 3, 4))
    )
    np.testing.assert_allclose(mirrored[0].z, mirrored[1].z, atol=1e-5)
    assert mirrored[0].separation == pytest.approx(mirrored[1].separation, rel=1e-5)


def test_a_lone_rollout_has_no_null(small_run: Path) -> None:
    (draw,) = shuffled_outcomes(str(small_run), 0, KEY, CONFIG.to_json(), 4, ((2,),))
    group = open_run(small_run).load_group(GroupKey(*KEY))
    start = sum(len(group.rollouts[row].completion_ids) for row in range(2))
    own = slice(start, start + len(group.rollouts[2].completion_ids))
    assert np.isnan(draw.z[own]).all() and not np.isnan(np.delete(draw.z, np.r_[own])).any()
    assert draw.separation is None


def test_other_starts_are_those_of_other_seeds(small_run: Path) -> None:
    draws = other_starts(str(small_run), 0, KEY, CONFIG.to_json(), None, (0, 5))
    np.testing.assert_allclose(draws[0].novelty, novelty(small_run, CONFIG), rtol=1e-6)
    fifth = novelty(small_run, replace(CONFIG, seed=5))
    np.testing.assert_allclose(draws[1].novelty, fifth, rtol=1e-6)


def test_a_setting_agrees_with_itself_and_others_are_compared_by_rank(small_run: Path) -> None:
    arguments = (str(small_run), 0, KEY, CONFIG.to_json(), None)
    same = agreement_of(*arguments, Variation("alpha", 0.5))
    assert same.right == pytest.approx(1.0) and same.wrong == pytest.approx(1.0)
    other = agreement_of(*arguments, Variation("alpha", 1.0))
    base, changed = novelty(small_run, CONFIG), novelty(small_run, replace(CONFIG, alpha=1.0))
    group = open_run(small_run).load_group(GroupKey(*KEY))
    n_right = sum(len(r.completion_ids) for r in group.rollouts[:3])
    expected = spearman(base[:n_right], changed[:n_right])
    assert expected is not None and other.right == pytest.approx(expected, abs=2e-3)
    layer = agreement_of(*arguments, Variation("layer", 2))
    expected = spearman(base[n_right:], novelty(small_run, CONFIG, layer=2)[n_right:])
    assert expected is not None and layer.wrong == pytest.approx(expected, abs=2e-3)
    assert other.seconds > 0 and solve_seconds(*arguments) > 0


def test_every_setting_is_tried_around_its_own_value() -> None:
    config = replace(CreditConfig(), alpha=0.3, n_support=12)
    found = variations(config, (2, 4), 4)
    assert Variation("alpha", 0.3) in found and Variation("n_support", 12) in found
    assert [v.value for v in found if v.field == "layer"] == [2, 4]
    assert Variation("n_support", "auto") in variations(CreditConfig(), (4,), None)
    assert not [v for v in variations(CreditConfig(), (4,), None) if v.field == "layer"]


def test_a_run_without_states_says_which_command_helps(small_runs: Path) -> None:
    path = str(small_runs / "no-states")
    with pytest.raises(InvalidInputError, match="hara-viz states"):
        shuffled_outcomes(path, 0, KEY, CONFIG.to_json(), None, ((0, 1, 2),))
