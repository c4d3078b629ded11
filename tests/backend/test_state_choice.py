"""Whose states are kept."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from hara_viz.backend.state_choice import StateChoice
from hara_viz.errors import InvalidInputError
from hara_viz.types import Rollout, RolloutGroup


def group(name: str, *rewards: float | None) -> RolloutGroup:
    return RolloutGroup(
        tuple(
            Rollout(
                problem_id=name,
                sample=i,
                prompt_text="",
                completion_text="",
                completion_ids=(),
                reward=reward,
            )
            for i, reward in enumerate(rewards)
        )
    )


def keeps(
    choice: StateChoice, group: RolloutGroup, drawn: Collection[str], threshold: float
) -> bool:
    rewards = [rollout.reward for rollout in group.rollouts]
    return choice.keeps(group.key.problem_id, rewards, drawn, threshold)


MIXED, RIGHT, UNSCORED = group("a", 1.0, 0.0, None), group("b", 1.0, 1.0), group("c", None, None)


@pytest.mark.parametrize(
    ("text", "kept"), [("all", "abc"), ("none", ""), ("mixed", "a"), ("sample:2", "two")]
)
def test_policies_keep_whole_groups(text: str, kept: str) -> None:
    choice = StateChoice.parse(text)
    drawn = choice.drawn(["a", "b", "c"], seed=3)
    names = "".join(
        g.key.problem_id for g in (MIXED, RIGHT, UNSCORED) if keeps(choice, g, drawn, 0.5)
    )
    assert len(names) == 2 if kept == "two" else names == kept


def test_mixed_follows_the_threshold() -> None:
    choice = StateChoice.parse("mixed")
    assert not keeps(choice, group("a", 0.6, 0.9), (), 0.5)
    assert keeps(choice, group("a", 0.6, 0.9), (), 0.8)


def test_the_draw_depends_on_the_seed_and_on_nothing_else() -> None:
    names = [f"p{i}" for i in range(40)]
    choice = StateChoice.parse("sample:8")
    assert choice.drawn(names, 0) == choice.drawn(names[::-1], 0)
    assert choice.drawn(names, 0) != choice.drawn(names, 1)
    assert len(choice.drawn(names, 0)) == 8
    assert choice.drawn(names[:3], 0) == frozenset(names[:3])


@pytest.mark.parametrize(
    "text", ["", "some", "sample", "sample:0", "sample:-1", "sample:x", "all:1"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="choose one of all, mixed"):
        StateChoice.parse(text)
