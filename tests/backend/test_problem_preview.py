"""A look into a problem set: what it holds, and which reward fits it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.backend.problem_preview import advise_reward, parsed_gold, preview_problems
from hara_viz.store import open_run

DEMO = Path(__file__).parents[2] / "assets" / "demo"


@pytest.mark.parametrize(
    ("golds", "reward"),
    [
        (["12", "-3", "1,234.5", "$7", "3/4", "50%"], "number"),
        (["12", None, "7"], "number"),
        (["A", "(B)", "C."], "choice"),
        (["12", r"\sqrt{2}"], "math"),
        (["x + 1", "(1, 2)"], "math"),
        (["Paris", "the moon"], "exact"),
        (["9" * 100_000], "math"),  # longer than any number that is read
        ([None, None], "format"),
        ([], "format"),
    ],
)
def test_the_reward_is_the_strictest_that_reads_all_golds(golds, reward: str) -> None:
    assert advise_reward(golds).reward == reward


@pytest.mark.parametrize("name", ["problems.jsonl", "held_out.jsonl"])
def test_the_demo_gets_the_reward_that_its_ready_runs_were_judged_by(name: str) -> None:
    found = preview_problems(DEMO / name)
    assert found.advice.reward == open_run(DEMO / "runs" / "grpo-000").info.reward
    assert found.first.gold is not None
    assert parsed_gold(found.advice.reward, found.first.gold) == found.first.gold
