from __future__ import annotations

import itertools
import math

import pandas as pd
import pytest

from hara_viz.analysis.figures import group_table, pass_at_k, run_figures

NAN = math.nan


def summaries(*rewards: list[float | None]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "global_step": [None] * len(rewards),
            "problem_id": [f"p{i}" for i in range(len(rewards))],
            "group": 0,
            "source_id": None,
            "prompt_head": "How many?",
            "gold": "3",
            "rewards": list(rewards),
            "lengths": [[10 * (i + 1)] * len(r) for i, r in enumerate(rewards)],
            "n_truncated": [i for i in range(len(rewards))],
            "mean_novelty": [None] * len(rewards),
        }
    )


def test_outcomes_and_counts() -> None:
    table = group_table(
        summaries([1, 0, None, 1], [1, 1], [0, 0.25], [None, NAN], [0.5]), threshold=0.5
    )
    assert list(table["outcome"]) == ["mixed", "all right", "all wrong", "unscored", "all right"]
    assert list(table["n_scored"]) == [3, 2, 2, 0, 1]
    assert list(table["n_correct"]) == [2, 2, 0, 0, 1]
    # Unequal wrong rewards still carry an advantage; one rollout alone carries none.
    assert list(table["degenerate"]) == [False, True, False, True, True]
    assert table["pass_rate"][0] == pytest.approx(2 / 3)
    assert math.isnan(table["pass_rate"][3])


def test_figures_of_a_run() -> None:
    figures = run_figures(group_table(summaries([1, 0, 0, 0], [0, 0], [None, None]), 0.5))
    assert (figures.n_groups, figures.n_rollouts, figures.n_unscored) == (3, 8, 2)
    assert figures.pass_at_1 == pytest.approx((0.25 + 0) / 2)
    assert figures.k == 2
    # C(3, 2) / C(4, 2) = 3/6 of the pairs miss the one correct rollout.
    assert figures.pass_at_k == pytest.approx((0.5 + 0) / 2)
    assert figures.mean_length == pytest.approx((4 * 10 + 2 * 20 + 2 * 30) / 8)
    assert (figures.n_truncated, figures.n_degenerate) == (3, 2)


def test_an_empty_run_has_no_rates() -> None:
    figures = run_figures(group_table(summaries(), 0.5))
    assert (figures.pass_at_1, figures.pass_at_k, figures.mean_length) == (None, None, None)


@pytest.mark.parametrize(("n", "correct", "k"), itertools.product([5], range(6), range(1, 6)))
def test_pass_at_k_counts_subsets(n: int, correct: int, k: int) -> None:
    subsets = list(itertools.combinations(range(n), k))
    hits = sum(any(i < correct for i in subset) for subset in subsets)
    assert pass_at_k(n, correct, k) == pytest.approx(hits / len(subsets))
