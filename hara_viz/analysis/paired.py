"""Two checkpoints on the same problems: what was solved, what was lost, and is it chance?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd

from hara_viz.analysis.bootstrap import Difference, paired_difference
from hara_viz.errors import InvalidInputError

Rule = Literal["half", "any", "all"]
"""When a problem counts as solved: at least half of its scored rollouts are right, any, or all."""

SOLVED, LOST, KEPT, UNSOLVED = "solved", "lost", "both", "neither"
UNSCORED = "unscored"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    """Checkpoint B against checkpoint A."""

    rule: Rule
    n_problems: int
    """Scored under both."""
    n_solved: int
    """Unsolved by A, solved by B."""
    n_lost: int
    """Solved by A, unsolved by B."""
    p_mcnemar: float
    """Exact McNemar test of solved against lost."""
    difference: Difference
    """Of the mean pass rate, B − A, over problems."""


def paired_table(a: pd.DataFrame, b: pd.DataFrame, rule: Rule = "half") -> pd.DataFrame:
    """One row per problem that both checkpoints have, with a verdict.

    Args:
        a, b: problem tables (`learning_curves.problem_table`), one row per problem.
        rule: when a problem counts as solved.

    Returns:
        problem_id, prompt_head, gold, rate_a, rate_b, n_success_a, n_scored_a, …_b, change
        (rate_b − rate_a) and verdict (SOLVED, LOST, KEPT, UNSOLVED; UNSCORED under one of them).
        In the order of `a`.

    Raises:
        InvalidInputError: there is no such rule.
    """
    if rule not in get_args(Rule):
        raise InvalidInputError(
            f"solved by {rule!r} is no rule; there are {', '.join(get_args(Rule))}"
        )
    counts = ["problem_id", "n_scored", "n_success"]
    left = a[[*counts, "prompt_head", "gold"]]
    table = left.merge(b[counts], on="problem_id", suffixes=("_a", "_b"), sort=False)
    for side in ("a", "b"):
        n_scored = table[f"n_scored_{side}"].to_numpy(float)
        n_success = table[f"n_success_{side}"].to_numpy(float)
        table[f"rate_{side}"] = np.divide(
            n_success, n_scored, out=np.full(len(table), np.nan), where=n_scored > 0
        )
        table[f"solved_{side}"] = _solved(n_success, n_scored, rule)
    table["change"] = table["rate_b"] - table["rate_a"]
    known = table["change"].notna()
    verdicts = zip(table["solved_a"], table["solved_b"], known, strict=True)
    table["verdict"] = [_VERDICTS[bool(x), bool(y)] if k else UNSCORED for x, y, k in verdicts]
    return table.drop(columns=["solved_a", "solved_b"])


def paired_test(table: pd.DataFrame, rule: Rule = "half") -> PairedTest:
    """The tests on a `paired_table` made with the same rule."""
    verdicts: list[str] = table["verdict"].tolist()
    n_solved, n_lost = verdicts.count(SOLVED), verdicts.count(LOST)
    return PairedTest(
        rule=rule,
        n_problems=len(verdicts) - verdicts.count(UNSCORED),
        n_solved=n_solved,
        n_lost=n_lost,
        p_mcnemar=mcnemar_exact(n_solved, n_lost),
        difference=paired_difference(table["rate_a"].to_numpy(), table["rate_b"].to_numpy()),
    )


def mcnemar_exact(n_solved: int, n_lost: int) -> float:
    """Two-sided exact McNemar test: min(1, 2 · P(X ≤ min(b, c))), X ~ Binomial(b + c, 1/2).

    Problems on which both agree say nothing and do not enter. Without any discordant one p = 1.
    """
    n = n_solved + n_lost
    tail = sum(math.comb(n, i) for i in range(min(n_solved, n_lost) + 1))
    return min(1.0, 2 * tail / 2**n)  # integers: exact for any number of problems


def _solved(n_success: np.ndarray, n_scored: np.ndarray, rule: Rule) -> np.ndarray:
    if rule == "any":
        return n_success > 0
    return n_success >= (n_scored if rule == "all" else n_scored / 2)


_VERDICTS = {
    (False, True): SOLVED,
    (True, False): LOST,
    (True, True): KEPT,
    (False, False): UNSOLVED,
}
