"""One training step as tables: groups without signal, clipped weights, odd rewards."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from hara_viz.text import think_regions
from hara_viz.types import Finish, GroupKey, Rollout, RolloutGroup, is_success

_AT_A_BOUND = 1e-5
"""Recorded weights are float32."""
_ODD_REST = 0.3
"""More than this share of the text after the answer is odd: answers stand at the end."""
_SHORT_REST = 60
"""Code points that may follow an answer in any case."""


class Oddity(StrEnum):
    """What makes a reward worth a look."""

    ODD_PLACE = "right, but the answer stands in an odd place"
    NO_ANSWER = "right, but no answer was found"
    TRUNCATED = "right, but cut off"
    MISSED = "wrong, but the answer found is the gold one"
    TIMED_OUT = "the check timed out"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class OddReward:
    """One rollout whose reward is worth a look."""

    key: GroupKey
    sample: int
    oddity: Oddity
    detail: str
    """In words: model text may stand in it."""


@dataclass(frozen=True, slots=True)
class ClippedRollout:
    """One rollout with weights at a bound."""

    key: GroupKey
    sample: int
    n_tokens: int
    """Own tokens."""
    n_low: int
    n_high: int
    first: int
    """Position of the first token at a bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFigures:
    """One step in numbers; None where there is nothing to divide by."""

    n_groups: int
    n_without_signal: int
    right: float | None
    """Share of the scored rollouts."""
    mean_length: float | None
    """Tokens of a completion."""


def step_figures(groups: Sequence[RolloutGroup], threshold: float) -> StepFigures:
    """The figures of a step's groups."""
    rollouts = [rollout for group in groups for rollout in group.rollouts]
    outcomes = [o for r in rollouts if (o := is_success(r.reward, threshold)) is not None]
    lengths = [len(rollout.completion_ids) for rollout in rollouts]
    return StepFigures(
        n_groups=len(groups),
        n_without_signal=sum(not has_signal(group) for group in groups),
        right=sum(outcomes) / len(outcomes) if outcomes else None,
        mean_length=sum(lengths) / len(lengths) if lengths else None,
    )


def has_signal(group: RolloutGroup) -> bool:
    """Whether any advantage of a group can differ from 0.

    What a trainer recorded decides; else the rewards do.
    """
    recorded = [r.recorded_advantage for r in group.rollouts if r.recorded_advantage is not None]
    if recorded:
        return any(recorded)
    rewards = [r.reward for r in group.rollouts if r.reward is not None and r.reward == r.reward]
    return len(rewards) > 1 and min(rewards) < max(rewards)


def step_frame(groups: Sequence[RolloutGroup], threshold: float) -> pd.DataFrame:
    """One row per group of a step, in their order."""
    return pd.DataFrame([_line(group, threshold) for group in groups])


def problem_name(rollout: Rollout) -> str:
    """What a reader knows a problem by: its id in the data set, else its question, else our id."""
    asked = [m.content for m in rollout.prompt_messages or () if m.role == "user"]
    question = " ".join((asked[-1] if asked else rollout.prompt_text or "").split())
    return rollout.source_id or question[:200] or rollout.problem_id


def clipped_weights(
    groups: Sequence[RolloutGroup], bounds: tuple[float, float]
) -> tuple[ClippedRollout, ...]:
    """Rollouts with recorded weights at a bound, those with the largest share first."""
    found = [c for group in groups for r in group.rollouts if (c := _clipped(r, bounds))]
    return tuple(sorted(found, key=lambda c: -(c.n_low + c.n_high) / c.n_tokens))


def clipped_share(groups: Sequence[RolloutGroup], bounds: tuple[float, float]) -> float | None:
    """Share of the own tokens whose recorded weight is at a bound; None: none is recorded."""
    rows = [_own_weights(r) for group in groups for r in group.rollouts if r.recorded_weights]
    if not rows:
        return None
    weights = np.concatenate(rows)
    low, high = _at_bounds(weights, bounds)
    return float((low | high).mean()) if len(weights) else None


def odd_rewards(groups: Sequence[RolloutGroup], threshold: float) -> tuple[OddReward, ...]:
    """Rewards worth a look, by group; a rollout may have several.

    That no answer was found is odd only where answers are found at all: a reward function may not
    look for one.
    """
    answers_are_found = any(r.answer_start is not None for g in groups for r in g.rollouts)
    return tuple(
        OddReward(group.key, rollout.sample, oddity, detail)
        for group in groups
        for rollout in group.rollouts
        for oddity, detail in _oddities(rollout, threshold, answers_are_found)
    )


def training_curve(groups: pd.DataFrame) -> pd.DataFrame:
    """A run's steps in order: pass rate, share of groups without signal, mean length.

    Args:
        groups: as `analysis.figures.group_table` gives them; steps that are not known are left out.
    """
    known = groups[groups["global_step"].notna()]
    curve = known.groupby("global_step", sort=True).agg(
        n_groups=("problem_id", "size"),
        pass_rate=("pass_rate", "mean"),
        no_signal=("degenerate", "mean"),
        length=("length_mean", "mean"),
    )
    return curve.reset_index().astype({"global_step": int})


def _line(group: RolloutGroup, threshold: float) -> dict[str, object]:
    rollouts = group.rollouts
    outcomes = [is_success(rollout.reward, threshold) for rollout in rollouts]
    scored = [r.reward for r in rollouts if r.reward is not None and not math.isnan(r.reward)]
    lengths = [len(rollout.completion_ids) for rollout in rollouts]
    return {
        "problem": problem_name(rollouts[0]),
        "right": outcomes.count(True),
        "wrong": outcomes.count(False),
        "unscored": outcomes.count(None),
        "reward": float(np.mean(scored)) if scored else None,
        "signal": "yes" if has_signal(group) else "none",
        "cut off": sum(rollout.finish is Finish.LENGTH for rollout in rollouts),
        "tokens": float(np.mean(lengths)),
    }


def _own_weights(rollout: Rollout) -> np.ndarray:
    weights = np.asarray(rollout.recorded_weights or (), np.float64)
    own = rollout.sampled_mask
    return weights if own is None else weights[np.asarray(own, bool)]


def _at_bounds(weights: np.ndarray, bounds: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    return weights <= bounds[0] + _AT_A_BOUND, weights >= bounds[1] - _AT_A_BOUND


def _clipped(rollout: Rollout, bounds: tuple[float, float]) -> ClippedRollout | None:
    weights = np.asarray(rollout.recorded_weights or (), np.float64)
    own = np.asarray(rollout.sampled_mask or (True,) * len(weights), bool)
    low, high = (side & own for side in _at_bounds(weights, bounds)) if len(weights) else (own, own)
    at_a_bound = np.flatnonzero(low | high) if len(weights) else []
    if not len(at_a_bound):
        return None
    return ClippedRollout(
        rollout.key,
        rollout.sample,
        int(own.sum()),
        int(low.sum()),
        int(high.sum()),
        int(at_a_bound[0]),
    )


def _oddities(
    rollout: Rollout, threshold: float, answers_are_found: bool
) -> Iterator[tuple[Oddity, str]]:
    right = is_success(rollout.reward, threshold)
    if right is None:
        reason = rollout.reward_reason or rollout.error or "no reason was recorded"
        timed_out = "timed out" in reason or "timeout" in reason
        yield (Oddity.TIMED_OUT if timed_out else Oddity.UNSCORED), reason
        return
    if right:
        if rollout.finish is Finish.LENGTH:
            yield Oddity.TRUNCATED, f"{len(rollout.completion_ids)} tokens, no end"
        if rollout.answer_start is None or rollout.answer_end is None:
            if answers_are_found:
                yield Oddity.NO_ANSWER, rollout.reward_reason or "scored all the same"
        elif place := _odd_place(rollout.completion_text, rollout.answer_start, rollout.answer_end):
            yield Oddity.ODD_PLACE, place
    elif rollout.gold is not None and _same(rollout.extracted_answer, rollout.gold):
        yield Oddity.MISSED, f"found {rollout.extracted_answer}"


def _odd_place(text: str, start: int, end: int) -> str:
    """Where an answer stands, if that is odd; else empty."""
    thinking = any(region.start <= start and end <= region.end for region in think_regions(text))
    if thinking:
        return "inside its thinking"
    rest = len(text[end:].rstrip())
    if rest > _SHORT_REST and rest > _ODD_REST * len(text):
        return f"{rest} of {len(text)} characters follow it"
    return ""


def _same(answer: str | None, gold: str) -> bool:
    return answer is not None and answer.strip() == gold.strip() != ""
