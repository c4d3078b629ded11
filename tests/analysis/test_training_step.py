from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from hara_viz.analysis.training_step import (
    Oddity,
    clipped_share,
    clipped_weights,
    has_signal,
    odd_rewards,
    problem_name,
    step_figures,
    step_frame,
    training_curve,
)
from hara_viz.types import Finish, Message, RolloutGroup
from tests.store.builders import make_rollout

BOUNDS = (0.2, 3.0)


def group_of(*changes: dict[str, Any]) -> RolloutGroup:
    rollouts = (make_rollout(0, sample, **change) for sample, change in enumerate(changes))
    return RolloutGroup(tuple(rollouts))


def oddities(*changes: dict[str, Any]) -> list[tuple[int, Oddity]]:
    return [(o.sample, o.oddity) for o in odd_rewards([group_of(*changes)], 0.5)]


ANSWERED: dict[str, Any] = {
    "completion_text": "x" * 96 + "1234", "answer_start": 96, "answer_end": 100, "reward": 1.0,
    "extracted_answer": "1234", "gold": "1234",
}  # fmt: skip


def test_a_healthy_step_has_no_odd_reward() -> None:
    assert oddities(ANSWERED, ANSWERED, {**ANSWERED, "reward": 0.0, "gold": "5"}) == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"finish": Finish.LENGTH}, Oddity.TRUNCATED),
        ({"answer_start": 0, "answer_end": 4}, Oddity.ODD_PLACE),
        ({"answer_start": None, "answer_end": None}, Oddity.NO_ANSWER),
        ({"reward": 0.0}, Oddity.MISSED),
        ({"reward": None, "reward_reason": "timed out after 5 s"}, Oddity.TIMED_OUT),
        ({"reward": float("nan"), "reward_reason": None}, Oddity.UNSCORED),
    ],
)
def test_each_oddity_is_found(change: dict[str, Any], expected: Oddity) -> None:
    assert oddities(ANSWERED, {**ANSWERED, **change}) == [(1, expected)]


def test_an_answer_inside_the_thinking_is_odd_and_one_after_it_is_not() -> None:
    inside = "<think>1234 it is</think> ok"
    found = odd_rewards(
        [group_of({**ANSWERED, "completion_text": inside, "answer_start": 7, "answer_end": 11})],
        0.5,
    )
    assert [(o.oddity, o.detail) for o in found] == [(Oddity.ODD_PLACE, "inside its thinking")]
    after = "<think>hm</think> 1234"
    where = {"answer_start": 18, "answer_end": 22}
    assert oddities({**ANSWERED, "completion_text": after, **where}) == []


def test_no_answer_is_not_odd_where_nothing_looks_for_answers() -> None:
    assert oddities({"reward": 1.0, "finish": Finish.STOP}) == []


def test_the_unscored_and_the_truncated_keep_their_words() -> None:
    found = odd_rewards([group_of({"reward": None, "error": "boom", "reward_reason": None})], 0.5)
    assert found[0].detail == "boom"


def test_signal_is_what_was_recorded_else_what_the_rewards_allow() -> None:
    assert has_signal(group_of({"reward": 0.0}, {"reward": 1.0}))
    assert not has_signal(group_of({"reward": 1.0}, {"reward": 1.0}, {"reward": None}))
    assert not has_signal(group_of({"reward": 1.0}))
    silent = {"reward": 0.0, "recorded_advantage": 0.0}
    assert not has_signal(group_of(silent, {**silent, "reward": 1.0}))
    assert has_signal(group_of(silent, {**silent, "recorded_advantage": -0.1}))


def test_weights_at_a_bound_are_counted_over_own_tokens() -> None:
    weights = {"n_tokens": 4, "recorded_weights": (0.2000001, 1.0, 3.0, 0.8)}
    masked = {**weights, "sampled_mask": (False, True, True, True)}
    group = group_of(weights, masked, {"n_tokens": 2, "recorded_weights": (1.0, 1.0)}, {})
    found = clipped_weights([group], BOUNDS)
    counted = [(c.sample, c.n_tokens, c.n_low, c.n_high, c.first) for c in found]
    assert counted == [(0, 4, 1, 1, 0), (1, 3, 0, 1, 2)]
    assert clipped_share([group], BOUNDS) == pytest.approx(3 / 9)
    assert clipped_share([group_of({})], BOUNDS) is None


def test_the_figures_of_a_step() -> None:
    mixed = group_of({"reward": 1.0, "n_tokens": 2}, {"reward": 0.0, "n_tokens": 4})
    silent = group_of({"reward": 1.0, "n_tokens": 6}, {"reward": None, "n_tokens": 8})
    figures = step_figures([mixed, silent], 0.5)
    assert (figures.n_groups, figures.n_without_signal, figures.mean_length) == (2, 1, 5.0)
    assert figures.right == pytest.approx(2 / 3)
    frame = step_frame([mixed, silent], 0.5)
    assert list(frame["signal"]) == ["yes", "none"]
    assert list(frame["unscored"]) == [0, 1] and list(frame["reward"]) == [0.5, 1.0]
    assert step_figures([], 0.5).right is None


def test_a_problem_without_an_id_of_its_set_is_known_by_its_question() -> None:
    (rollout,) = group_of({"source_id": "set-7"}).rollouts
    asked = (Message("system", "Be brief."), Message("user", " How\n many? "))
    nameless = replace(rollout, source_id=None, prompt_messages=asked)
    assert problem_name(rollout) == "set-7"
    assert problem_name(nameless) == "How many?"
    assert problem_name(replace(nameless, prompt_messages=None, prompt_text="Q: 1?")) == "Q: 1?"
    bare = replace(nameless, prompt_messages=None, prompt_text="")
    assert problem_name(bare) == rollout.problem_id


def test_the_curve_is_in_the_order_of_steps() -> None:
    rows = [(3, "a", 0.5, True, 4.0), (1, "a", 1.0, False, 2.0), (3, "b", 0.0, False, 8.0)]
    columns = ["global_step", "problem_id", "pass_rate", "degenerate", "length_mean"]
    table = pd.DataFrame([*rows, (None, "c", 1.0, True, 9.0)], columns=columns)
    table["global_step"] = table["global_step"].astype("Int64")
    curve = training_curve(table)
    assert list(curve["global_step"]) == [1, 3]
    assert list(curve["pass_rate"]) == [1.0, 0.25] and list(curve["length"]) == [2.0, 6.0]
    assert list(curve["no_signal"]) == [0.0, 0.5] and list(curve["n_groups"]) == [1, 2]


def test_a_text_without_an_end_of_its_own_is_whole() -> None:
    group = group_of(ANSWERED)
    rollouts = (replace(group.rollouts[0], completion_text="x" * 96 + "1234" + " \n" * 90),)
    assert odd_rewards([replace(group, rollouts=rollouts)], 0.5) == ()
