"""Signals: one definition, whose values are those of the credit they are read off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hara_viz import open_run
from hara_viz.analysis.signals import (
    BASE_CHANNELS,
    CHANNELS,
    SIGNALS,
    Signal,
    Term,
    channels_of,
    evaluate,
    signal_values,
)
from hara_viz.backend.credit import GroupCredit, credit_of
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.types import RolloutGroup


@pytest.fixture
def found(small_run: Path) -> GroupCredit:
    run = open_run(small_run)
    key = run.keys()[0]
    group = run.load_group(key)
    recorded = [replace(r, recorded_advantage=0.1 * r.sample) for r in group.rollouts]
    return credit_of(RolloutGroup(tuple(recorded)), run.load_states(key, 4), CreditConfig())


def test_terms_add_up() -> None:
    signal = Signal("x", "X", "", True, (Term(2, "a"), Term(-1, None, by_advantage=True)))
    values = evaluate(signal, {"a": np.array([1.0, np.nan, 3.0])}, np.array([0.5, 0.5, -1.0]))
    np.testing.assert_array_equal(values, [1.5, np.nan, 7.0])
    assert channels_of(signal) == ("a",)


def test_values_are_those_of_the_credit(found: GroupCredit) -> None:
    credit, group = found.credit, found.group
    lengths = [len(r.completion_ids) for r in group.rollouts]
    before = np.repeat(credit.baseline.double().numpy(), lengths)
    recorded = np.repeat([0.1 * r.sample for r in group.rollouts], lengths)
    expected = {
        "novelty": credit.novelty,
        "feature": credit.novelty_feature,
        "structure": credit.novelty_structure,
        "weight": credit.weights.double() - 1,
        "advantage": credit.advantages,
        "before": before,
        "shift": credit.advantages.double().numpy() - before,
        "entropy": np.concatenate([r.entropy for r in group.rollouts]),
        "surprisal": -np.concatenate([r.logprobs for r in group.rollouts]),
        "recorded": recorded,
        "recorded-gap": recorded - credit.advantages.double().numpy(),
    }
    assert list(expected) == list(SIGNALS)
    for name, values in expected.items():
        shown = signal_values(name, group, credit)
        assert shown is not None
        np.testing.assert_allclose(shown, values, rtol=1e-6, atol=1e-6)


def test_what_is_unknown_is_not_zero(found: GroupCredit) -> None:
    first, *others = found.group.rollouts
    mask = tuple(i != 1 for i in range(len(first.completion_ids)))
    group = RolloutGroup(
        (replace(first, sampled_mask=mask), *(replace(r, reward=None) for r in others))
    )
    novelty = signal_values("novelty", group, found.credit)
    assert novelty is not None
    assert np.isfinite(novelty[0]) and np.isnan(novelty[1])
    assert np.isnan(novelty[len(mask) :]).all()
    bare = RolloutGroup(tuple(replace(r, entropy=None) for r in found.group.rollouts))
    assert signal_values("entropy", bare, found.credit) is None


def test_names_meet_channels_and_gaps_are_explained() -> None:
    assert set(BASE_CHANNELS) < set(CHANNELS)
    for name, signal in SIGNALS.items():
        assert name == signal.name and set(channels_of(signal)) <= set(CHANNELS)
        optional = {"logprob", "entropy", "recorded"} & set(channels_of(signal))
        assert bool(signal.missing) == bool(optional)


def test_a_signal_that_is_not_there(found: GroupCredit) -> None:
    with pytest.raises(InvalidInputError, match="no signal 'x'; there are novelty"):
        signal_values("x", found.group, found.credit)
