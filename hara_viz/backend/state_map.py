"""A map of one group's states with its barycenters' atoms on top: what the embedding page shows.

`map_group` takes and gives plain data, so that it can run in a process of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import torch

from hara_viz.analysis.atoms import atom_centres
from hara_viz.analysis.map_quality import map_quality
from hara_viz.analysis.projection import Metric, ProjectionConfig, in_metric, project
from hara_viz.backend.project import StateMap, group_points, outcome_labels, project_groups
from hara_viz.backend.transport import GroupTransport
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, RolloutGroup

__all__ = ["GroupMap", "Landmarks", "MapRequest", "atom_landmarks", "map_group", "seed_overlaps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRequest:
    """Which map: everything that its picture depends on. Hashable, so that it can name a cache."""

    run: str
    """The run's path."""
    stamp: int
    """When the run last changed."""
    key: tuple[int | None, str, int]
    layer: int
    projection: ProjectionConfig
    granularity: str = "token"
    max_points: int = 3000
    supervised: bool = False
    credit: str | None = None
    """The `CreditConfig` as JSON that the landmarks come from; None: no landmarks."""


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Atoms to place on a map."""

    centres: np.ndarray
    """[M, D]."""
    names: pd.DataFrame
    """M rows: success, atom (its column in the plans)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMap:
    """A map of a group's states."""

    request: MapRequest
    """What it answers."""
    states: StateMap
    atoms: pd.DataFrame
    """One row per atom: x, y (and z), success, atom (its column in the plans)."""


def map_group(request: MapRequest, landmarks: Landmarks | None = None) -> GroupMap:
    """The map that a request names, with landmarks on top.

    Raises:
        InvalidInputError: no states, or a setting out of range.
    """
    states = project_groups(
        open_run(request.run),
        [GroupKey(*request.key)],
        request.layer,
        request.projection,
        granularity=request.granularity,
        max_points=request.max_points,
        supervised=request.supervised,
        landmarks=None if landmarks is None else landmarks.centres,
    )
    names = pd.DataFrame(columns=["success", "atom"]) if landmarks is None else landmarks.names
    placed = states.projection.landmarks
    atoms = names.copy()
    for axis, name in enumerate("xyz"[: request.projection.n_components]):
        atoms[name] = [] if placed is None else placed[:, axis]
    return GroupMap(request=request, states=states, atoms=atoms)


def seed_overlaps(request: MapRequest, seeds: tuple[int, ...]) -> tuple[float, ...]:
    """How far other seeds draw the same points alike: neighbour overlap with the map asked for.

    Returns:
        For each seed the mean share of a point's k nearest neighbours on the one map that are among
        its k nearest on the other (k = 10, less on small maps); chance gives k / (N − 1).

    Raises:
        InvalidInputError: as `map_group`, or fewer than 4 points.
    """
    chosen = map_group(
        request
    ).states.points  # the choice of points follows the seed, so it is kept
    run, key = open_run(request.run), GroupKey(*request.key)
    points, table = group_points(run, key, request.layer, request.granularity)
    names = ["sample", "token"]
    rows = table.reset_index().merge(chosen[names], on=names, how="inner")["index"]
    labels = None
    if request.supervised and request.projection.method == "umap":
        labels = outcome_labels(chosen["success"])
    base = _places(chosen)
    overlaps: list[float] = []
    for seed in seeds:
        config = replace(request.projection, seed=seed)
        other = project(points[rows], config, labels=labels)
        overlaps.append(map_quality(base, other.coordinates).overlap)
    return tuple(overlaps)


def _places(points: pd.DataFrame) -> np.ndarray:
    return points[[axis for axis in "xyz" if axis in points]].to_numpy(np.float32)


def atom_landmarks(run: Run, transport: GroupTransport, metric: Metric) -> Landmarks | None:
    """The atoms of a group's own barycenters, in the space of the states as they are mapped.

    An atom is the mean of the tokens that flow into it (2b). The plans' own space may be another
    one (centred, say), so the mean is taken anew over the states that the map shows. None: both
    outcomes lack a barycenter.
    """
    layer = transport.found.layer
    states = None if layer is None else run.load_states(transport.found.group.key, layer)
    if not transport.own or states is None:
        return None
    centres: list[np.ndarray] = []
    parts: list[pd.DataFrame] = []
    for success, known in transport.own.items():
        rows = [
            in_metric(states.rows(row).to(torch.float32).numpy(), metric)[
                _own(transport.found.group, row)
            ]
            for row in known.rows
        ]
        found = atom_centres(known.plans, rows)
        centres.append(found)
        parts.append(pd.DataFrame({"success": success, "atom": np.arange(len(found))}))
    return Landmarks(np.concatenate(centres), pd.concat(parts, ignore_index=True))


def _own(group: RolloutGroup, row: int) -> np.ndarray:
    rollout = group.rollouts[row]
    mask = rollout.sampled_mask or (True,) * len(rollout.completion_ids)
    return np.asarray(mask, dtype=bool)
