"""Runs as a trainer leaves them, written without one: small groups, real credit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hara_viz.backend.credit import credit_of
from hara_viz.credit import CreditConfig
from hara_viz.credit.config import METHOD_VERSION
from hara_viz.store import RunWriter
from hara_viz.types import Finish, RolloutGroup, RunInfo, TrainingInfo
from tests.small_runs import (
    APPLES,
    APPLES_TEXTS,
    HOSTILE,
    HOSTILE_TEXTS,
    PENS,
    PENS_TEXTS,
    group_of,
    states_of,
)

CONFIG = CreditConfig(strength=0.7, weight_range=(0.6, 1.5))


def recorded(group: RolloutGroup, step: int, **changes: Any) -> RolloutGroup:
    """A group as a trainer leaves it: advantages of CONFIG, and the first rollout changed."""
    states = states_of(group, 4)
    states = replace(states, states=states.states.bfloat16())  # as they are stored
    found = credit_of(group, states, CONFIG)
    rows = [
        replace(
            rollout,
            global_step=step,
            recorded_advantage=float(found.credit.baseline[row]),
            recorded_advantages=tuple(found.of_row(found.credit.advantages, row).tolist()),
            recorded_weights=tuple(found.of_row(found.credit.weights, row).tolist()),
            **(changes if row == 0 else {}),
        )
        for row, rollout in enumerate(group.rollouts)
    ]
    return RolloutGroup(tuple(rows))


def step_groups(step: int) -> list[RolloutGroup]:
    """One step: a group with a right answer that was cut off, one with hostile text, one silent."""
    pens = group_of(PENS, PENS_TEXTS)
    hostile = group_of(HOSTILE, HOSTILE_TEXTS)
    silent = group_of(APPLES, APPLES_TEXTS)
    return [
        recorded(pens, step, finish=Finish.LENGTH),
        recorded(hostile, step, reward_reason="<b>fine</b>"),
        recorded(silent, step),
    ]


def writer_of(path: Path) -> RunWriter:
    """A new recorded run."""
    training = TrainingInfo(
        trainer="trl 1.16.0", credit=CONFIG.to_json(), method_version=METHOD_VERSION, layer=4,
        loss_type="dapo", importance_sampling_level="token", scale_rewards="group", beta=0.0,
    )  # fmt: skip
    return RunWriter(path, RunInfo(training=training, reward="right_answer"))


def write_step(writer: RunWriter, step: int, *, states: bool = True) -> None:
    """One part per group."""
    for group in step_groups(step):
        writer.write_part([group], [states_of(group, 4)] if states else [])
