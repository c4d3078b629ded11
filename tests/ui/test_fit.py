"""What a link asks for and what exists, in runs that hold several training steps."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from hara_viz.analysis.figures import ALL_WRONG, MIXED
from hara_viz.ui.fit import fit_group
from hara_viz.ui.selection import Selection

GROUPS = pd.DataFrame(
    {
        "global_step": pd.array([0, 0, 1, 1, 2], dtype="Int64"),
        "problem_id": ["a", "b", "c", "d", "a"],
        "group": [0, 0, 0, 0, 0],
        "outcome": [MIXED, MIXED, ALL_WRONG, MIXED, ALL_WRONG],
    }
)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"global_step": 2, "problem": "a"}, (2, "a")),
        ({"global_step": 1, "problem": "a"}, (1, "d")),  # the step holds: a mixed one of it
        ({"global_step": 2, "problem": "b"}, (2, "a")),
        ({"global_step": 9, "problem": "c"}, (1, "c")),  # no such step: the problem holds
        ({"problem": "c"}, (1, "c")),
        ({}, (0, "a")),
    ],
)
def test_a_step_that_exists_outweighs_the_problem(
    asked: dict[str, Any], expected: tuple[int, str]
) -> None:
    found, _ = fit_group(Selection(**asked), GROUPS)
    assert (found.global_step, found.problem) == expected
