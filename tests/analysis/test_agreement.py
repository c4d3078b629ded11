from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from hara_viz.analysis.agreement import group_agreement, over_problems
from hara_viz.errors import ShapeError

CLASSES = np.array([1] * 6 + [0] * 4)


def weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.2, 1.8, size=10)


def test_ranks_are_spearmans_inside_each_class() -> None:
    a, b = weights(0), weights(1)
    found = group_agreement("p", [a, b], CLASSES)
    parts = [
        (scipy.stats.spearmanr(a[own], b[own]).statistic, len(a[own]))
        for own in (slice(0, 6), slice(6, 10))
    ]
    expected = sum(rank * n for rank, n in parts) / 10
    assert found.ranks[0, 1] == found.ranks[1, 0] == pytest.approx(expected)
    assert np.diag(found.ranks) == pytest.approx([1.0, 1.0])
    assert np.diag(found.moved) == pytest.approx([0.0, 0.0])


def test_the_weight_that_moves_has_a_closed_form() -> None:
    even, tilted = np.ones(4), np.array([2.0, 0.0, 1.0, 1.0])
    found = group_agreement("p", [even, tilted], np.ones(4, int))
    assert found.moved[0, 1] == 0.25  # a quarter of the weight went from one token to another
    assert math.isnan(found.ranks[0, 1]), "equal weights have no order"


def test_tokens_outside_the_classes_and_refused_methods_do_not_count() -> None:
    a, b = weights(0), weights(1)
    classes = CLASSES.copy()
    classes[:6] = -1
    alone = group_agreement("p", [a[6:], b[6:]], np.zeros(4, int))
    found = group_agreement("p", [a, b, None], classes)
    assert found.moved[0, 1] == pytest.approx(alone.moved[0, 1])
    assert np.isnan(found.ranks[2]).all()
    assert np.isnan(group_agreement("p", [a], np.full(10, -1)).moved).all()
    with pytest.raises(ShapeError):
        group_agreement("p", [a], CLASSES[:5])


def test_the_average_is_over_problems() -> None:
    a = weights(0)
    same, other = (a, a), (a, -a)
    groups = [group_agreement(name, pair, CLASSES) for name, pair in
              (("p", same), ("p", other), ("q", same))]  # fmt: skip
    found = over_problems(groups)
    assert found.ranks[0][1].value == pytest.approx((0.0 + 1.0) / 2)
    assert found.ranks[0][1].n == 2
    assert over_problems([]).ranks == ()
