"""What a trainer recorded, against what is computed here from the run on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.credit import CreditConfig
from hara_viz.credit.config import METHOD_VERSION
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, Progress, Report, RolloutGroup, ignore_progress

TOLERANCE = 1e-6
"""The largest absolute difference of a token's advantage that counts as equal."""


def recorded_baseline(run: Run, group: RolloutGroup, config: CreditConfig) -> Tensor | None:
    """The trainer's own A_r [G]; None: there is none, or it no longer holds.

    A trainer scales rewards in its own way, over the whole batch or by several reward functions, so
    its A_r is taken before any rule of ours. It no longer holds once somebody scored the run anew
    or overrode a verdict of the group, or asked for another rule than the default.
    """
    values = [rollout.recorded_advantage for rollout in group.rollouts]
    # The trainer never asked for a rule: whatever its config names, A_r was its own.
    own = trainer_config(run)
    unasked = {CreditConfig().baseline, *(() if own is None else (own.baseline,))}
    if config.baseline not in unasked or rewards_changed(run, group.key):
        return None
    known = [value for value in values if value is not None]
    return torch.tensor(known, dtype=torch.float64) if len(known) == len(values) else None


def rewards_changed(run: Run, key: GroupKey) -> bool:
    """Whether the rewards of a group may differ from those it was recorded with."""
    return run.rewards_version is not None or any(
        annotated == key for annotated, _ in run.annotations.verdicts()
    )


def trainer_config(run: Run) -> CreditConfig | None:
    """The config that the trainer of a recorded run computed its credit with."""
    return None if run.info.training is None else CreditConfig.from_json(run.info.training.credit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """Recorded and recomputed advantages of one group."""

    key: GroupKey
    difference: float | None
    """Largest absolute difference over the tokens; None: it could not be checked."""
    n_tokens: int = 0
    reason: str = ""
    """Why it could not be checked, in one sentence."""

    @property
    def holds(self) -> bool | None:
        """Whether they are equal; None: not checked."""
        return None if self.difference is None else self.difference <= TOLERANCE


def check_parity(run: Run, key: GroupKey) -> Parity:
    """Compute a group's advantages again, as its trainer did, and compare them.

    The promise is for the same kind of device: another one rounds otherwise.
    """
    from hara_viz.backend.credit import credit_group  # which takes its baseline from here

    group = run.load_group(key)
    reason = why_uncheckable(run, group)
    config = trainer_config(run)
    if reason or config is None or run.info.training is None:
        return Parity(key=key, difference=None, reason=reason)
    found = credit_group(run, key, config, run.info.training.layer)
    recorded = torch.tensor([v for r in group.rollouts for v in r.recorded_advantages or ()])
    gap = (recorded.double() - found.credit.advantages.double().cpu()).abs()
    return Parity(key=key, difference=float(gap.max()) if len(gap) else 0.0, n_tokens=len(gap))


def check_step(
    run: Run, global_step: int | None, report: Report = ignore_progress
) -> tuple[Parity, ...]:
    """`check_parity` of all groups of a training step."""
    keys = [key for key in run.keys() if key.global_step == global_step]  # noqa: SIM118
    found: list[Parity] = []
    for key in keys:
        report(Progress(stage="parity", done=len(found), total=len(keys), unit="groups"))
        found.append(check_parity(run, key))
    return tuple(found)


def check_step_at(path: str, stamp: int, global_step: int | None) -> tuple[Parity, ...]:
    """`check_step` by the run's path; `stamp` tells apart the states of a run that changes."""
    del stamp
    return check_step(open_run(path), global_step)


def why_uncheckable(run: Run, group: RolloutGroup) -> str:
    """Why parity of a group cannot be checked; empty: it can."""
    training = run.info.training
    if training is None or any(r.recorded_advantages is None for r in group.rollouts):
        return (
            "Parity cannot be checked: no trainer recorded token advantages for this group; runs "
            "that `hara_viz.integrations.trl` records have them."
        )
    if training.method_version != METHOD_VERSION:
        return (
            f"Parity cannot be checked: the run was recorded by version {training.method_version} "
            f"of the method, and this is version {METHOD_VERSION}; install the one that recorded "
            f"it (hara-viz {run.info.versions.get('hara-viz', 'of that time')})."
        )
    if rewards_changed(run, group.key):
        return (
            "Parity cannot be checked: the rewards of this group were changed after it was "
            "recorded; remove the newer rewards or the overridden verdict."
        )
    return _without_states(run, group, training.layer)


def _without_states(run: Run, group: RolloutGroup, layer: int | None) -> str:
    states = None if layer is None else run.load_states(group.key, layer)
    if layer is None or (states is not None and _lengths(states.offsets) == _tokens(group)):
        return ""
    return (
        f"Parity cannot be checked: the run keeps no hidden states of layer {layer} for this "
        'group; record with Recording(states="all"), or "mixed" for groups with right and wrong '
        "rollouts."
    )


def _lengths(offsets: Tensor) -> list[int]:
    return offsets.diff().tolist()


def _tokens(group: RolloutGroup) -> Sequence[int]:
    return [len(rollout.completion_ids) for rollout in group.rollouts]
