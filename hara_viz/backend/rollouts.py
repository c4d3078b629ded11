"""From completions as drawn to judged groups: cut into cells and steps, verified meanwhile.

Verifying happens in the pool's worker processes while the policy goes on drawing: a group that is
complete is handed over, and collected once its verdicts are there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple

from hara_viz.models import Completion, Policy
from hara_viz.rewards import RewardItem, RewardPool
from hara_viz.text import cells_of, cut_cells, reasoning_steps, without_special
from hara_viz.text.spans import CutText, Span
from hara_viz.types import Judgement, Problem, Rollout, RolloutGroup


class JudgedGroup(NamedTuple):
    """A group with its verdicts, and the completions that it was made of."""

    group: RolloutGroup
    completions: tuple[Completion, ...]


@dataclass(frozen=True, slots=True)
class _Unjudged:
    rollouts: tuple[Rollout, ...]
    completions: tuple[Completion, ...]
    verdicts: Future[list[Judgement]]
    seen: tuple[CutText, ...]


def judged_groups(
    completions: Iterable[Completion],
    problems: Mapping[str, Problem],
    policy: Policy,
    pool: RewardPool,
    *,
    group_size: int,
    global_step: int | None = None,
    split: str | None = None,
) -> Iterator[JudgedGroup]:
    """Groups with verdicts, in the order in which they were completed.

    Args:
        completions: as the sampler gives them, whole groups together.
        problems: by problem_id.
        policy: whose tokenizer drew the tokens.
        pool: judges; stays open.
        group_size: rollouts of one group.
        global_step: the training step of the checkpoint, if it is known.
        split: of the problem set, if it is known.
    """
    drawn: list[Completion] = []
    rollouts: list[Rollout] = []
    waiting: deque[_Unjudged] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="verify") as thread:
        for completion in completions:
            problem = problems[completion.request.problem_id]
            rollout = to_rollout(completion, problem, policy)
            rollouts.append(replace(rollout, global_step=global_step, split=split))
            drawn.append(completion)
            if len(drawn) == group_size:
                waiting.append(_hand_over(rollouts, drawn, policy.special_ids, pool, thread))
                rollouts, drawn = [], []
            while waiting and waiting[0].verdicts.done():
                yield _with_verdicts(waiting.popleft())
        while waiting:
            yield _with_verdicts(waiting.popleft())


def to_rollout(completion: Completion, problem: Problem, policy: Policy) -> Rollout:
    """A completion as a row of the run, not yet judged."""
    request = completion.request
    cells = cut_cells(completion.ids, policy.decode, policy.special_ids)
    return Rollout(
        problem_id=request.problem_id,
        source_id=problem.source_id,
        group=request.group,
        sample=request.sample,
        prompt_messages=problem.messages,
        prompt_text=request.prompt.text,
        prompt_ids=request.prompt.ids,
        gold=problem.gold,
        completion_text=cells.text,
        completion_ids=completion.ids,
        cell_start=cells.cell_start,
        reasoning_step=reasoning_steps(cells.text, cells.cell_start),
        logprobs=completion.logprobs,
        logprobs_kind=completion.logprobs_kind,
        entropy=completion.entropy,
        finish=completion.finish,
        error=completion.error,
    )


def what_a_verifier_sees(rollout: Rollout, special_ids: frozenset[int]) -> CutText:
    """The completion without its markers, and the way back to the full text."""
    if rollout.cell_start is None:  # dumps of text alone: nothing is known to be a marker
        whole = Span(0, len(rollout.completion_text))
        return CutText(rollout.completion_text, (whole,))
    cells = cells_of(
        rollout.completion_text, rollout.cell_start, rollout.completion_ids, special_ids
    )
    return without_special(rollout.completion_text, cells)


def reward_item(rollout: Rollout, seen: CutText) -> RewardItem:
    """What is sent to a verifier."""
    return RewardItem(seen.text, rollout.gold, rollout.prompt_text)


def in_full_text(judgement: Judgement, seen: CutText) -> Judgement:
    """The judgement with its span in code points of `completion_text`."""
    if judgement.answer_start is None or judgement.answer_end is None:
        return judgement
    span = seen.to_original(judgement.answer_start, judgement.answer_end)
    return replace(judgement, answer_start=span.start, answer_end=span.end)


def _hand_over(
    rollouts: Sequence[Rollout],
    completions: Sequence[Completion],
    special_ids: frozenset[int],
    pool: RewardPool,
    thread: ThreadPoolExecutor,
) -> _Unjudged:
    seen = tuple(what_a_verifier_sees(rollout, special_ids) for rollout in rollouts)
    items = [reward_item(r, s) for r, s in zip(rollouts, seen, strict=True)]
    verdicts = thread.submit(pool.judge, items)
    return _Unjudged(tuple(rollouts), tuple(completions), verdicts, seen)


def _with_verdicts(group: _Unjudged) -> JudgedGroup:
    judged = tuple(
        with_judgement(rollout, in_full_text(judgement, seen))
        for rollout, judgement, seen in zip(
            group.rollouts, group.verdicts.result(), group.seen, strict=True
        )
    )
    return JudgedGroup(RolloutGroup(judged), group.completions)


def with_judgement(rollout: Rollout, judgement: Judgement) -> Rollout:
    """The rollout with its verdict; one that the engine gave up on stays unscored."""
    if rollout.error is not None:
        return replace(rollout, reward=None, reward_reason="not sampled")
    return replace(
        rollout,
        reward=judgement.reward,
        reward_parts=judgement.parts,
        extracted_answer=judgement.extracted_answer,
        answer_start=judgement.answer_start,
        answer_end=judgement.answer_end,
        reward_reason=judgement.reason,
    )
