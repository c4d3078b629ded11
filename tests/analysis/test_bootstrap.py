from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from hara_viz.analysis.bootstrap import mean_interval, paired_difference
from hara_viz.errors import InvalidInputError, ShapeError

RATES = np.random.default_rng(3).binomial(8, 0.6, size=60) / 8.0


def test_it_agrees_with_scipys_percentile_bootstrap() -> None:
    found = mean_interval(RATES)
    reference = scipy.stats.bootstrap(
        (RATES,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    width = reference.high - reference.low
    assert found.value == pytest.approx(RATES.mean())
    assert abs(found.low - reference.low) < 0.04 * width
    assert abs(found.high - reference.high) < 0.04 * width


def test_its_width_is_that_of_the_normal_for_many_problems() -> None:
    values = np.random.default_rng(0).normal(size=900)
    found = mean_interval(values)
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert found.high - found.value == pytest.approx(half, rel=0.06)


def test_it_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        found = mean_interval(generator.uniform(size=40))
        hits += found.low <= 0.5 <= found.high
    assert 0.90 <= hits / 400 <= 0.98


def test_few_problems_have_no_interval_and_unknown_ones_do_not_count() -> None:
    nan = math.nan
    assert mean_interval(np.array([])).n == 0
    assert math.isnan(mean_interval(np.array([])).value)
    one = mean_interval(np.array([nan, 0.25]))
    assert (one.value, one.n) == (0.25, 1) and math.isnan(one.low)
    assert mean_interval(np.array([1.0, 0.0, nan])) == mean_interval(np.array([1.0, 0.0]))
    assert mean_interval(np.full(5, 0.5))[:3] == (0.5, 0.5, 0.5)


def test_a_wider_level_holds_a_narrower_one() -> None:
    narrow, wide = mean_interval(RATES, 0.5), mean_interval(RATES, 0.99)
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high
    with pytest.raises(InvalidInputError, match="level"):
        mean_interval(RATES, 1.5)


def test_pairs_use_what_both_know_and_know_their_sign() -> None:
    a, b = RATES, np.clip(RATES + 0.1, 0, 1)
    found = paired_difference(a, b)
    assert found.interval.value == pytest.approx((b - a).mean())
    assert found.interval.low > 0 and found.p_value < 0.01
    mirrored = paired_difference(b, a)
    assert mirrored.interval.value == pytest.approx(-found.interval.value)
    assert mirrored.p_value == pytest.approx(found.p_value, abs=0.01)
    assert paired_difference(a, a).p_value == 1.0
    half_known = paired_difference(np.where(np.arange(60) < 30, np.nan, a), b)
    assert half_known.interval.n == 30
    with pytest.raises(ShapeError):
        paired_difference(a, b[:-1])


def test_its_p_value_is_near_the_t_tests() -> None:
    generator = np.random.default_rng(5)
    a = generator.uniform(size=200)
    b = a + generator.normal(0.02, 0.2, size=200)
    reference = scipy.stats.ttest_rel(b, a).pvalue
    assert paired_difference(a, b).p_value == pytest.approx(reference, abs=0.03)
