from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from hara_viz.analysis.intervals import false_discovery_rates, mean_test


@pytest.mark.parametrize("n", [2, 5, 40])
def test_the_interval_and_p_are_those_of_students_t(n: int) -> None:
    values = np.random.default_rng(n).normal(0.3, 1.0, size=n)
    found = mean_test(values)
    reference = scipy.stats.ttest_1samp(values, 0.0)
    ends = reference.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    assert found.p_value == pytest.approx(reference.pvalue)
    assert (found.mean, found.n) == (pytest.approx(values.mean()), n)


def test_too_few_values_have_no_interval() -> None:
    assert math.isnan(mean_test(np.array([])).mean)
    one = mean_test(np.array([2.0]))
    assert one.mean == 2.0 and math.isnan(one.p_value) and math.isnan(one.low)


def test_equal_values_are_certain() -> None:
    assert mean_test(np.full(4, 0.5))[:4] == (0.5, 0.5, 0.5, 0.0)
    assert mean_test(np.zeros(4)).p_value == 1.0


def test_false_discovery_rates_are_benjamini_and_hochbergs() -> None:
    p_values = np.random.default_rng(0).uniform(size=50) ** 3
    reference = scipy.stats.false_discovery_control(p_values)
    assert false_discovery_rates(p_values) == pytest.approx(reference)
    assert false_discovery_rates(np.array([0.01, 0.02, 0.9])) == pytest.approx([0.03, 0.03, 0.9])


def test_unknown_p_values_neither_count_nor_vanish() -> None:
    found = false_discovery_rates(np.array([math.nan, 0.01, 0.04]))
    assert math.isnan(found[0])
    assert found[1:] == pytest.approx([0.02, 0.04])
    assert len(false_discovery_rates(np.array([]))) == 0
