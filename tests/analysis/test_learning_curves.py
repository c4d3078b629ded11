from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from hara_viz.analysis.bootstrap import mean_interval
from hara_viz.analysis.figures import group_table, run_figures
from hara_viz.analysis.learning_curves import (
    METRICS,
    common_k,
    curve,
    distinct_answers,
    metric_values,
    problem_table,
    with_read,
)
from hara_viz.errors import InvalidInputError
from tests.analysis.test_figures import summaries

REWARDS = ([1, 0, 0, 0], [1, 1, 1, 0], [None, 1, 0, 1])


def groups(*rewards: list[float | None]) -> pd.DataFrame:
    return group_table(summaries(*rewards))


def test_distinct_answers_counts_what_k_draws_would_hold() -> None:
    answers = ["7", "7", "7", "9", "11", None]
    for k in range(1, 7):
        draws = list(itertools.combinations(answers, k))
        counted = sum(len({a for a in draw if a is not None}) for draw in draws) / len(draws)
        assert distinct_answers([3, 1, 1], 6, k) == pytest.approx(counted)


def test_the_curves_are_means_over_problems_and_agree_with_the_runs_figures() -> None:
    table = groups(*REWARDS)
    figures = run_figures(table)
    tables = [problem_table(table)]
    k = common_k(tables)
    assert k == figures.k == 3
    assert curve(tables, "pass@1", k).points[0].value == pytest.approx(figures.pass_at_1)
    assert curve(tables, "pass@k", k).points[0].value == pytest.approx(figures.pass_at_k)
    assert curve(tables, "length", k).points[0].value == pytest.approx((10 + 20 + 30) / 3)
    assert curve(tables, "truncated", k).points[0].value == pytest.approx((0 + 1 + 2) / 12)
    assert curve(tables, "pass@1", k).points[0] == mean_interval(np.array([0.25, 0.75, 2 / 3]))


def test_what_a_summary_lacks_stays_unknown_until_it_is_read() -> None:
    table = groups(*REWARDS)
    bare = problem_table(table)
    for name in ("entropy", "novelty", "distinct"):
        assert np.isnan(metric_values(bare, name, 2)).all(), name
    read = pd.DataFrame(
        {
            "global_step": [None, None],
            "problem_id": ["p0", "p1"],
            "group": [0, 0],
            "entropy": [0.5, 1.5],
            "novelty": [0.1, math.nan],
            "answers": [(2, 1), (4,)],
        }
    )
    full = problem_table(with_read(table, read))
    assert list(metric_values(full, "entropy", 2)[:2]) == [0.5, 1.5]
    assert math.isnan(metric_values(full, "entropy", 2)[2])
    expected = distinct_answers([2, 1], 4, 2), 1.0
    assert metric_values(full, "distinct", 2)[:2] == pytest.approx(expected)
    kept = groups(*REWARDS)
    kept["mean_novelty"] = [0.3, 0.4, 0.5]
    assert list(metric_values(problem_table(with_read(kept, read)), "novelty", 1)) == [
        0.1,
        0.4,
        0.5,
    ]


def test_a_problem_that_was_sampled_twice_counts_once() -> None:
    table = groups([1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0])
    table["problem_id"], table["group"] = ["p", "p", "q"], [0, 1, 0]
    found = problem_table(table)
    assert list(found["problem_id"]) == ["p", "q"]
    assert list(metric_values(found, "pass@1", 1)) == [0.5, 0.0]
    assert list(found["n_rollouts"]) == [8, 4]
    assert common_k([found]) == 4
    read = table[["global_step", "problem_id", "group"]].assign(answers=[(4,), (4,), (4,)])
    assert math.isnan(metric_values(problem_table(with_read(table, read)), "distinct", 2)[0])


def test_unscored_and_small_groups_are_unknown_not_zero() -> None:
    found = problem_table(groups([None, None], [1, 0]))
    assert math.isnan(metric_values(found, "pass@1", 1)[0])
    assert math.isnan(metric_values(found, "pass@k", 3)[1])
    assert common_k([problem_table(groups([None]))]) == 1


def test_an_empty_run_has_a_table_and_no_figures() -> None:
    empty = problem_table(groups())
    assert len(empty) == 0
    assert math.isnan(curve([empty], "pass@1", 1).points[0].value)


def test_bad_names_are_refused() -> None:
    table = problem_table(groups(*REWARDS))
    with pytest.raises(InvalidInputError, match="pass@1"):
        metric_values(table, "accuracy", 1)
    with pytest.raises(InvalidInputError, match="k is 0"):
        metric_values(table, "pass@k", 0)
    assert set(METRICS) == {
        "pass@1", "pass@k", "length", "truncated", "entropy", "novelty", "distinct"
    }  # fmt: skip
