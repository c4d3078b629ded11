"""The verb `project`: the hidden states of groups as one map, each point linked to its token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from hara_viz.analysis.map_quality import MapQuality, map_quality
from hara_viz.analysis.projection import (
    Projection,
    ProjectionConfig,
    fair_choice,
    in_metric,
)
from hara_viz.backend.credit import default_layer
from hara_viz.backend.map_cache import kept_projection
from hara_viz.errors import InvalidInputError
from hara_viz.store import Run
from hara_viz.types import (
    GroupKey,
    HiddenStates,
    Progress,
    Report,
    RolloutGroup,
    ignore_progress,
    is_success,
)

__all__ = ["ProjectionConfig", "StateMap", "project_groups"]

MAX_POINTS = 4000
"""UMAP of more takes minutes; what is left out is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateMap:
    """A map of states."""

    points: pd.DataFrame
    """One row per point: x, y (and z), problem_id, group, global_step, sample, token (the first of
    a step), n_tokens, success (None: unscored)."""
    projection: Projection
    layer: int
    n_states: int
    """Tokens or steps there were; `points` may hold fewer."""
    quality: MapQuality | None
    """How far the map keeps neighbours; None: too few points."""
    notes: tuple[str, ...]
    """What was left out or done otherwise, in sentences."""


def project_groups(
    run: Run,
    keys: Sequence[GroupKey],
    layer: int | None = None,
    config: ProjectionConfig | None = None,
    *,
    granularity: str = "token",
    max_points: int = MAX_POINTS,
    supervised: bool = False,
    landmarks: np.ndarray | None = None,
    report: Report = ignore_progress,
) -> StateMap:
    """Lay the states of groups out in one map.

    Args:
        run: an open run.
        keys: the groups.
        layer: whose states; None: the highest that the run holds.
        config: method and settings; None: UMAP in the plane.
        granularity: "token", or "step" for the mean state of each reasoning step.
        max_points: at most this many, drawn evenly over the rollouts.
        supervised: let UMAP see the outcomes.
        landmarks: [M, D] points to place on the finished map (`projection.landmarks`).
        report: hears of progress.

    Raises:
        InvalidInputError: no states, no groups, or a setting out of range.
    """
    if granularity not in ("token", "step"):
        raise InvalidInputError(f"granularity is {granularity!r}; choose token or step")
    config = ProjectionConfig() if config is None else config
    layer = default_layer(run) if layer is None else layer
    if layer is None or not keys:
        what = "names no groups" if not keys else f"needs states, and {run.name} holds none"
        raise InvalidInputError(f"the map {what}; `hara-viz states` fills states in")
    points, table, notes = _collect(run, keys, layer, granularity, report)
    chosen = fair_choice(table.groupby(["problem_id", "group", "sample"], dropna=False).ngroup(),
                         max_points, seed=config.seed)  # fmt: skip
    report(Progress(stage="projecting", done=0, total=1, unit="maps"))
    shown = table.iloc[chosen].reset_index(drop=True)
    labels = None
    if supervised and config.method == "umap":
        labels = outcome_labels(shown["success"])
    projection = kept_projection(run.path, points[chosen], config, labels, landmarks)
    quality = None
    if len(chosen) >= 4:
        quality = map_quality(in_metric(points[chosen], config.metric), projection.coordinates)
    for axis, name in enumerate("xyz"[: config.n_components]):
        shown[name] = projection.coordinates[:, axis]
    if len(chosen) < len(table):
        notes.append(f"{len(chosen):,} of {len(table):,} points are shown, evenly over rollouts")
    report(Progress(stage="projecting", done=1, total=1, unit="maps"))
    return StateMap(
        points=shown,
        projection=projection,
        layer=layer,
        n_states=len(table),
        quality=quality,
        notes=(*notes, *projection.notes),
    )


def _collect(
    run: Run, keys: Sequence[GroupKey], layer: int, granularity: str, report: Report
) -> tuple[np.ndarray, pd.DataFrame, list[str]]:
    """The points [N, D] of all groups and what each of them is."""
    points: list[np.ndarray] = []
    tables: list[pd.DataFrame] = []
    n_missing = 0
    for number, key in enumerate(keys):
        report(Progress(stage="reading", done=number, total=len(keys), unit="groups"))
        states = run.load_states(key, layer)
        if states is None:
            n_missing += 1
            continue
        group = run.load_group(key)
        some, table = points_of(group, states, granularity, run.info.success_threshold)
        points.append(some)
        tables.append(table)
    if not tables:
        raise InvalidInputError(
            f"{run.name} holds no states of layer {layer} for these groups; fill them in with "
            "`hara-viz states`"
        )
    notes = [f"{n_missing} groups have no states of layer {layer}"] if n_missing else []
    return np.concatenate(points), pd.concat(tables, ignore_index=True), notes


def group_points(
    run: Run, key: GroupKey, layer: int, granularity: str
) -> tuple[np.ndarray, pd.DataFrame]:
    """All points [N, D] of one group, and what each of them is.

    Raises:
        InvalidInputError: the run holds no states of this group.
    """
    points, table, _ = _collect(run, [key], layer, granularity, ignore_progress)
    return points, table


def outcome_labels(successes: Iterable[bool | None]) -> np.ndarray:
    """Labels [N] for a supervised map: 1 right, 0 wrong, −1 unscored."""
    return np.array([-1 if success is None else int(success) for success in successes])


def points_of(
    group: RolloutGroup, states: HiddenStates, granularity: str, threshold: float
) -> tuple[np.ndarray, pd.DataFrame]:
    """The points [N, D] of one group (tokens, or the mean state of each step) and what they are."""
    points: list[np.ndarray] = []
    rows: list[dict[str, object]] = []
    for number, rollout in enumerate(group.rollouts):
        own = states.rows(number)
        if not len(own):  # states were not kept for this rollout
            continue
        vectors = own.to(torch.float32).numpy()
        steps = np.arange(len(vectors))
        if granularity == "step" and rollout.reasoning_step is not None:
            steps = np.asarray(rollout.reasoning_step)
        names, first, counts = np.unique(steps, return_index=True, return_counts=True)
        sums = np.zeros((len(names), vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, np.searchsorted(names, steps), vectors)
        points.append(sums / counts[:, None])
        head = {
            "problem_id": group.key.problem_id,
            "group": group.key.group,
            "global_step": group.key.global_step,
            "sample": rollout.sample,
            "success": is_success(rollout.reward, threshold),
        }
        rows += [
            {**head, "token": int(token), "n_tokens": int(count)}
            for token, count in zip(first, counts, strict=True)
        ]
    width = states.states.shape[1]
    table = pd.DataFrame(rows, columns=[*_COLUMNS])
    return (np.concatenate(points) if points else np.empty((0, width), np.float32)), table


_COLUMNS = ("problem_id", "group", "global_step", "sample", "success", "token", "n_tokens")
