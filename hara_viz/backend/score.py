"""The verb `score`: judge a run again with another reward; what was judged before is kept."""

from __future__ import annotations

from collections.abc import Sequence

from hara_viz.backend.rollouts import in_full_text, reward_item, what_a_verifier_sees
from hara_viz.rewards import RewardPool
from hara_viz.store import RewardsWriter, Run
from hara_viz.types import Judgement, Progress, Report, Rollout, ignore_progress, is_success

AT_ONCE = 256
"""Rollouts between two progress reports; the pool spreads them over its workers."""


def score_run(
    run: Run, reward: str, report: Report = ignore_progress, *, allow_code: bool = False
) -> str:
    """Write a rewards version of all rollouts; credit and pass rates follow it from then on.

    An interrupted call goes on where it stopped; until it is through, the run keeps the rewards
    it had. Verdicts that people overrode stay overridden.

    Args:
        run: an open run.
        reward: a reward's name.
        report: hears of progress.
        allow_code: let the name be a function in a Python file (command line only).

    Returns:
        The name of the version.

    Raises:
        InvalidInputError: there is no such reward.
        UnsafeError: the reward is a file and `allow_code` is off.
        StoreError: another process scores the run, or the disk failed.
    """
    special_ids = frozenset(run.info.checkpoint.special_ids if run.info.checkpoint else ())
    total = sum(map(len, run.rewards_of_parts().values()))
    tally = _Tally(run.info.success_threshold, total, report)
    with (
        RewardPool(reward, allow_code=allow_code) as pool,
        RewardsWriter(run.path, reward) as writer,
    ):
        missing = writer.missing_parts
        for part in run.parts:
            rollouts = [r for group in run.load_part(part) for r in group.rollouts]
            if part not in missing:
                tally.done += len(rollouts)
                continue
            judged: list[Judgement] = []
            for start in range(0, len(rollouts), AT_ONCE):
                some = _judge(rollouts[start : start + AT_ONCE], special_ids, pool)
                tally.add(some)
                judged += some
            writer.write_part(part, rollouts, judged)
        writer.finish()
        return writer.version


def _judge(
    rollouts: Sequence[Rollout], special_ids: frozenset[int], pool: RewardPool
) -> list[Judgement]:
    seen = [what_a_verifier_sees(rollout, special_ids) for rollout in rollouts]
    items = [reward_item(rollout, text) for rollout, text in zip(rollouts, seen, strict=True)]
    return [
        Judgement(reward=None, reason="not sampled")
        if rollout.error is not None
        else in_full_text(judgement, text)
        for rollout, text, judgement in zip(rollouts, seen, pool.judge(items), strict=True)
    ]


class _Tally:
    """Counts verdicts and reports them."""

    def __init__(self, threshold: float, total: int, report: Report) -> None:
        self.threshold = threshold
        self.total = total
        self.report = report
        self.done = 0
        self.n_scored = 0
        self.n_correct = 0

    def add(self, judgements: Sequence[Judgement]) -> None:
        outcomes = [is_success(judgement.reward, self.threshold) for judgement in judgements]
        self.done += len(outcomes)
        self.n_scored += sum(outcome is not None for outcome in outcomes)
        self.n_correct += sum(outcome is True for outcome in outcomes)
        figures = {"pass_rate": self.n_correct / self.n_scored} if self.n_scored else {}
        self.report(
            Progress(
                stage="scoring",
                done=self.done,
                total=self.total,
                unit="rollouts",
                figures=figures,
            )
        )
