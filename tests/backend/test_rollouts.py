"""Completions to judged groups: cells, steps, verdicts with spans in the full text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hara_viz.backend.rollouts import judged_groups
from hara_viz.models import Completion, Policy, RenderedPrompt, SampleRequest, load_policy
from hara_viz.rewards import RewardPool
from hara_viz.types import Finish, Message, Problem, RolloutGroup

PROBLEMS = {
    p.problem_id: p
    for p in (
        Problem(messages=(Message("user", "20 + 4?"),), gold="24", source_id="sum"),
        Problem(messages=(Message("user", "Free?"),), gold=None),
    )
}
SUM, FREE = PROBLEMS


@pytest.fixture(scope="module")
def policy(tiny_policy_dir: Path) -> Policy:
    return load_policy(str(tiny_policy_dir), device="cpu")


@pytest.fixture(scope="module")
def pool() -> Iterator[RewardPool]:
    with RewardPool("number") as pool:
        yield pool


def completion(policy: Policy, name: str, sample: int, text: str, **changes: object) -> Completion:
    ids = tuple(policy.tokenizer(text, add_special_tokens=False)["input_ids"])
    values = {
        "ids": ids,
        "logprobs": (-1.0,) * len(ids),
        "entropy": (0.5,) * len(ids),
        "finish": Finish.STOP,
        **changes,
    }
    prompt = RenderedPrompt("ask", (1, 3), True)
    return Completion(request=SampleRequest(name, 0, sample, prompt), **values)  # pyright: ignore


def judge(policy: Policy, pool: RewardPool, *completions: Completion) -> list[RolloutGroup]:
    judged = judged_groups(completions, PROBLEMS, policy, pool, group_size=2, global_step=7)
    return [group for group, _ in judged]


def test_groups_come_judged_with_spans_of_the_full_text(policy: Policy, pool: RewardPool) -> None:
    right = "<|im_start|>So\nthe answer is 24.<|im_end|>"
    wrong = "The answer is 25.<|im_end|>"
    (group,) = judge(
        policy, pool, completion(policy, SUM, 0, right), completion(policy, SUM, 1, wrong)
    )
    assert group.key == (7, SUM, 0)
    assert group.rewards.tolist() == [1.0, 0.0]
    first = group.rollouts[0]
    assert first.completion_text == right
    assert first.source_id == "sum"
    assert first.gold == "24"
    # The verifier saw the text without markers; its span is told in the text with them.
    assert first.answer_start is not None
    assert right[first.answer_start : first.answer_end] == "24"
    assert first.cell_start is not None and first.cell_start[0] == 0
    assert first.reasoning_step is not None and max(first.reasoning_step) >= 1
    assert first.logprobs_kind == "raw"


def test_groups_follow_each_other_and_none_is_lost(policy: Policy, pool: RewardPool) -> None:
    texts = [("24", SUM), ("9", SUM), ("24", FREE), ("", FREE)]
    groups = judge(
        policy, pool, *(completion(policy, name, i % 2, t) for i, (t, name) in enumerate(texts))
    )
    assert [group.key.problem_id for group in groups] == [SUM, FREE]
    assert groups[0].rewards.tolist() == [1.0, 0.0]
    # Without a gold answer nothing is scored, and an empty completion is a completion.
    assert [r.reward for r in groups[1].rollouts] == [None, None]
    assert groups[1].rollouts[1].completion_text == ""


def test_what_the_engine_gave_up_on_stays_unscored(policy: Policy, pool: RewardPool) -> None:
    given_up = completion(policy, SUM, 1, "", finish=Finish.ABORT, error="the prompt is too long")
    (group,) = judge(policy, pool, completion(policy, SUM, 0, "24"), given_up)
    assert group.rollouts[1].reward is None
    assert group.rollouts[1].error == "the prompt is too long"
    assert group.rollouts[1].reward_reason == "not sampled"
