from __future__ import annotations

import itertools
import math

import pandas as pd
import pytest

from hara_viz.analysis.figures import group_table, pass_at_k, run_figures
from hara_viz.store.summaries import to_frame

NAN = math.nan


def summaries(*rewards: list[float | None]) -> pd.DataFrame:
    """What the store says of groups with these rewards; group i has lengths of 10 (i + 1)."""
    rows = [
        {
            "global_step": None,
            "problem_id": f"p{i}",
            "group": 0,
            "source_id": None,
            "split": None,
            "prompt_head": "How many?",
            "gold": "3",
            "part": "part-00000",
            "row_group": i,
            "first_row": 0,
            "samples": list(range(len(of_group))),
            "rewards": of_group,
            "lengths": [10 * (i + 1)] * len(of_group),
            "n_truncated": i,
            "n_answered": 0,
            "mean_novelty": None,
            "credit": None,
        }
        for i, of_group in enumerate(rewards)
    ]
    return to_frame(rows, threshold=0.5)


def test_outcomes_and_counts() -> None:
    table = group_table(summaries([1, 0, None, 1], [1, 1], [0, 0.25], [None, NAN], [0.5]))
    assert list(table["outcome"]) == ["mixed", "all right", "all wrong", "unscored", "all right"]
    # Unequal wrong rewards still carry an advantage; one rollout alone carries none.
    assert list(table["degenerate"]) == [False, True, False, True, True]


def test_figures_of_a_run() -> None:
    figures = run_figures(group_table(summaries([1, 0, 0, 0], [0, 0], [None, None])))
    assert (figures.n_groups, figures.n_rollouts, figures.n_unscored) == (3, 8, 2)
    assert figures.pass_at_1 == pytest.approx((0.25 + 0) / 2)
    assert figures.k == 2
    # C(3, 2) / C(4, 2) = 3/6 of the pairs miss the one correct rollout.
    assert figures.pass_at_k == pytest.approx((0.5 + 0) / 2)
    assert figures.mean_length == pytest.approx((4 * 10 + 2 * 20 + 2 * 30) / 8)
    assert (figures.n_truncated, figures.n_degenerate) == (3, 2)


def test_an_empty_run_has_no_rates() -> None:
    figures = run_figures(group_table(summaries()))
    assert (figures.pass_at_1, figures.pass_at_k, figures.mean_length) == (None, None, None)


@pytest.mark.parametrize(("n", "correct", "k"), itertools.product([5], range(6), range(1, 6)))
def test_pass_at_k_counts_subsets(n: int, correct: int, k: int) -> None:
    subsets = list(itertools.combinations(range(n), k))
    hits = sum(any(i < correct for i in subset) for subset in subsets)
    assert pass_at_k(n, correct, k) == pytest.approx(hits / len(subsets))
