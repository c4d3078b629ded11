"""A group of foreign rollouts to a `RolloutGroup`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hara_viz.importers.completions import FoundCompletion, read_completion
from hara_viz.importers.foreign import ForeignRollout, UnusableRowError
from hara_viz.importers.problem_index import ProblemIndex
from hara_viz.importers.prompts import FoundPrompt, Prompts
from hara_viz.importers.report import LeftOut
from hara_viz.importers.tokenizer import Tokenizer
from hara_viz.types import Finish, Problem, Rollout, RolloutGroup


class GroupBuilder:
    """Turns groups into records of the house and counts what it had to leave out.

    Args:
        tokenizer: of the policy that wrote the dump; None only if the dump has ids and text.
        problems: the problem set, for gold answers and prompts; may be empty.
    """

    def __init__(self, tokenizer: Tokenizer | None, problems: Sequence[Problem] = ()) -> None:
        self._tokenizer = tokenizer
        self._prompts = Prompts(ProblemIndex(problems, tokenizer), tokenizer)
        self._has_problems = bool(problems)
        self._numbers: Counter[tuple[int | None, str]] = Counter()
        self._skipped: dict[str, tuple[int, str]] = {}
        self.prompts_known = True
        """Whether the ids of all prompts could be made out; `check` finds out."""
        self._n_groups = self._n_joined = self._n_disagree = self._n_contrary = 0

    def check(self, rollout: ForeignRollout) -> None:
        """See a rollout before any is written: prompts have ids in all of a run, or in none."""
        if self.prompts_known:
            self.prompts_known = self._prompts.find(rollout).ids is not None

    def build(self, members: Sequence[ForeignRollout]) -> RolloutGroup | None:
        """The group; None if none of its rollouts can be used.

        Groups of one problem at one step are numbered in the order in which they come.
        """
        found = self._prompts.find(members[0])
        golds = (member.gold for member in members)
        gold = found.problem.gold if found.known else next((g for g in golds if g), None)
        problem = replace(found.problem, gold=gold)
        key = (members[0].global_step, problem.problem_id)
        rollouts: list[Rollout] = []
        for member in members:
            try:
                completion = read_completion(member, self._tokenizer)
            except UnusableRowError as error:
                count, first = self._skipped.get(error.reason, (0, error.detail))
                self._skipped[error.reason] = (count + 1, first)
                continue
            self._n_disagree += not completion.agrees
            columns: dict[str, Any] = {"group": self._numbers[key], "sample": len(rollouts)}
            rollouts.append(self._rollout(member, completion, found, problem, columns))
        if not rollouts:
            return None
        self._numbers[key] += 1
        self._n_groups += 1
        self._n_joined += found.known
        self._n_contrary += _contradicts(rollouts)
        return RolloutGroup(tuple(rollouts))

    def skipped(self) -> tuple[LeftOut, ...]:
        """Rollouts that could not be used after all."""
        return tuple(LeftOut(why, n, first or "–") for why, (n, first) in self._skipped.items())

    def warnings(self) -> tuple[str, ...]:
        """What looks wrong, one sentence each."""
        said: list[str] = []
        if not self.prompts_known:
            said.append(
                "the token ids of some prompts cannot be made out (a dump without its special "
                "tokens needs --problems with the prompts it was trained on), so no prompt has "
                "any and `hara-viz states` cannot read the run"
            )
        if self._has_problems:
            missing = self._n_groups - self._n_joined
            if missing:
                said.append(
                    f"{missing:,} of {self._n_groups:,} groups have a prompt that is not in the "
                    "problem set; they keep the gold answer of the dump, if it has one"
                )
        if self._n_disagree:
            said.append(
                f"{self._n_disagree:,} completions read otherwise in the tokenizer of --model than "
                "in the dump; check that it is the tokenizer of the training"
            )
        if self._n_contrary:
            said.append(
                f"in {self._n_contrary:,} of {self._n_groups:,} groups a higher reward has a lower "
                "recorded advantage: reward weights or further terms that the dump does not name, "
                "or rows of several groups"
            )
        return tuple(said)

    def _rollout(
        self, member: ForeignRollout, found: FoundCompletion, prompt: FoundPrompt,
        problem: Problem, columns: dict[str, Any],
    ) -> Rollout:  # fmt: skip
        answer = found.answer or (None, None, None)
        return Rollout(
            problem_id=problem.problem_id,
            source_id=problem.source_id or member.source_id,
            global_step=member.global_step,
            split=member.split,
            **columns,
            prompt_messages=problem.messages,
            prompt_text=prompt.text,
            prompt_ids=prompt.ids if self.prompts_known else None,
            gold=problem.gold,
            completion_text=found.text,
            completion_ids=found.ids,
            sampled_mask=found.sampled_mask,
            cell_start=found.cell_start,
            reasoning_step=found.reasoning_step,
            logprobs=member.logprobs,
            logprobs_kind=member.logprobs_kind,
            entropy=member.entropy,
            reward=member.reward,
            reward_parts=member.reward_parts,
            extracted_answer=answer[0],
            answer_start=answer[1],
            answer_end=answer[2],
            reward_reason=member.reward_reason
            or ("not scored in the dump" if member.reward is None else None),
            recorded_advantage=_scalar(member),
            recorded_advantages=member.advantages,
            advantage_rule=member.advantage_rule,
            finish=self._finish(member, found),
            tokens_source=found.source,
            error=member.error,
        )

    def _finish(self, member: ForeignRollout, found: FoundCompletion) -> Finish:
        if member.finish is Finish.UNKNOWN and self._tokenizer is not None and found.ids:
            ended = found.ids[-1] in self._tokenizer.end_ids
            return Finish.STOP if ended else Finish.UNKNOWN
        return member.finish


def _scalar(member: ForeignRollout) -> float | None:
    """The one advantage of a rollout, also where it stands at each of its tokens."""
    if member.advantage is not None or not member.advantages:
        return member.advantage
    mask = member.sampled_mask or (True,) * len(member.advantages)
    own = {a for a, sampled in zip(member.advantages, mask, strict=True) if sampled}
    value = next(iter(own), math.nan)
    return value if len(own) == 1 and math.isfinite(value) else None


def _contradicts(rollouts: Sequence[Rollout]) -> bool:
    """Whether a higher reward has a lower recorded advantage somewhere in the group."""
    pairs = sorted(
        (rollout.reward, rollout.recorded_advantage)
        for rollout in rollouts
        if rollout.reward is not None and rollout.recorded_advantage is not None
    )
    return any(b[0] > a[0] and b[1] < a[1] - 1e-6 for a, b in pairwise(pairs))
