"""Signals of the tokens of many groups, as one value for each point of a joint map."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from hara_viz.analysis.map_values import point_values
from hara_viz.analysis.signals import SIGNALS, channels_of, lengths_of, signal_values
from hara_viz.backend.credit import GroupCredit, credit_group, kept_or_computed
from hara_viz.backend.joint_map import JointRequest, joint_points
from hara_viz.backend.joint_marks import CreditOfRun
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, Progress, Report, ignore_progress

__all__ = ["JointSignals", "joint_signals"]

_NOVELTY = frozenset({"feature", "structure"})
_OF_CREDIT = _NOVELTY | {"weight"}


@dataclass(frozen=True, slots=True)
class JointSignals:
    """Every signal for every point of a joint map."""

    values: dict[str, np.ndarray]
    """By name, [P] float32; NaN where unknown."""
    n_refused: int
    """Groups whose credit could not be computed as asked; their novelty and weight are unknown."""


def joint_signals(
    request: JointRequest, credit: CreditOfRun, report: Report = ignore_progress
) -> JointSignals:
    """The signals of a joint map's points, in their order: a step has the mean of its tokens.

    Novelty is unknown where a rollout had nothing to be compared with.

    Raises:
        InvalidInputError: as `map_jointly`.
    """
    configs = {run: CreditConfig.from_json(text) for run, text in credit}
    found = joint_points(request, report)
    points = found.table.iloc[found.shown].reset_index(drop=True)
    values = {name: np.full(len(points), np.nan, np.float32) for name in SIGNALS}
    places = np.asarray(points["place"], np.int64)
    n_refused = 0
    for place in np.unique(places).tolist():
        report(Progress(stage="credit", done=place, total=len(request.places), unit="groups"))
        asked = request.places[place]
        run, key = open_run(asked.run), GroupKey(*asked.key)
        group, is_asked = _credit(run, key, configs[asked.run], request.layer)
        n_refused += not is_asked
        rows = np.flatnonzero(places == place)
        own = points.iloc[rows]
        for name in SIGNALS:
            known = _values(name, group, is_asked)
            if known is not None:
                values[name][rows] = _of_points(own, group, known)
    return JointSignals(values, n_refused)


def _credit(run: Run, key: GroupKey, config: CreditConfig, layer: int) -> tuple[GroupCredit, bool]:
    """The credit asked for, or uniform GRPO (False), which needs nothing."""
    try:
        return kept_or_computed(run, key, config, layer), True
    except HaraError:
        return credit_group(run, key, replace(config, signal="uniform"), layer), False


def _values(name: str, found: GroupCredit, is_asked: bool) -> np.ndarray | None:
    """[N] of a group; None: unknown for all of it."""
    channels = set(channels_of(SIGNALS[name]))
    if not is_asked and channels & _OF_CREDIT:
        return None
    values = signal_values(name, found.group, found.credit)
    if values is None or not channels & _NOVELTY:
        return values
    # Credit holds zeros where a rollout is alone in its outcome, or the signal has no novelty.
    known = [found.mean_novelty(row) is not None for row in range(len(found.group))]
    return np.where(np.repeat(known, lengths_of(found.group)), values, np.nan)


def _of_points(points: pd.DataFrame, found: GroupCredit, values: np.ndarray) -> np.ndarray:
    rollouts = found.group.rollouts
    starts = {r.sample: int(start) for r, start in zip(rollouts, found.offsets, strict=False)}
    lengths = {r.sample: len(r.completion_ids) for r in rollouts}
    return point_values(points, values, starts, lengths)
