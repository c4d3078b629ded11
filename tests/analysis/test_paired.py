from __future__ import annotations

import math

import pandas as pd
import pytest
import scipy.stats

from hara_viz.analysis.figures import group_table
from hara_viz.analysis.learning_curves import problem_table
from hara_viz.analysis.paired import (
    KEPT,
    LOST,
    SOLVED,
    UNSCORED,
    UNSOLVED,
    mcnemar_exact,
    paired_table,
    paired_test,
)
from hara_viz.errors import InvalidInputError
from tests.analysis.test_figures import summaries


def table(*rewards: list[float | None]) -> pd.DataFrame:
    return problem_table(group_table(summaries(*rewards)))


@pytest.mark.parametrize("solved", [0, 1, 5, 40, 300])
@pytest.mark.parametrize("lost", [0, 2, 7, 300])
def test_mcnemar_is_the_sign_test_on_discordant_problems(solved: int, lost: int) -> None:
    n = solved + lost
    reference = scipy.stats.binomtest(solved, n, 0.5).pvalue if n else 1.0
    assert mcnemar_exact(solved, lost) == pytest.approx(reference, rel=1e-9)


def test_closed_forms_of_mcnemar() -> None:
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(6, 0) == 2 / 64
    assert mcnemar_exact(3, 3) == 1.0


A = table([1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0], [None, None, None, None])
B = table([1, 1, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1])


def test_verdicts_changes_and_tests() -> None:
    found = paired_table(A, B)
    assert list(found["verdict"]) == [SOLVED, LOST, KEPT, UNSOLVED, UNSCORED]
    assert list(found["change"][:4]) == [0.5, -0.5, 0.0, 0.0]
    assert math.isnan(found["change"][4])
    test = paired_test(found)
    assert (test.n_problems, test.n_solved, test.n_lost, test.p_mcnemar) == (4, 1, 1, 1.0)
    assert test.difference.interval.value == 0.0
    assert test.difference.interval.n == 4


def test_the_rule_decides_what_solved_means() -> None:
    verdicts = {rule: list(paired_table(A, B, rule)["verdict"][:2]) for rule in ("any", "all")}
    assert verdicts == {"any": [KEPT, KEPT], "all": [UNSOLVED, UNSOLVED]}
    with pytest.raises(InvalidInputError, match="half, any, all"):
        paired_table(A, B, "most")  # pyright: ignore[reportArgumentType]


def test_only_problems_of_both_are_paired_in_the_order_of_a() -> None:
    found = paired_table(A, B.iloc[[3, 1]])
    assert list(found["problem_id"]) == ["p1", "p3"]
    assert paired_test(paired_table(A, B.iloc[[]])).n_problems == 0
