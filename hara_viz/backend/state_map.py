"""A map of one group's states with its barycenters' atoms on top: what the embedding page shows.

`map_group` takes and gives plain data, so that it can run in a process of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from hara_viz.analysis.atoms import atom_centres
from hara_viz.analysis.projection import ProjectionConfig, in_metric
from hara_viz.backend.project import StateMap, project_groups
from hara_viz.backend.transport import GroupTransport, transport_group
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, RolloutGroup

__all__ = ["GroupMap", "MapRequest", "map_group"]


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
    """A `CreditConfig` as JSON whose barycenters are placed on the map; None: no atoms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMap:
    """A map of a group's states."""

    states: StateMap
    atoms: pd.DataFrame
    """One row per atom: x, y (and z), success, atom (its column in the plans)."""


def map_group(request: MapRequest) -> GroupMap:
    """The map that a request names.

    Raises:
        InvalidInputError: no states, or a setting out of range.
    """
    run = open_run(request.run)
    key = GroupKey(*request.key)
    transport = _transport(run, key, request)
    centres, atoms = _landmarks(run, transport, request)
    states = project_groups(
        run,
        [key],
        request.layer,
        request.projection,
        granularity=request.granularity,
        max_points=request.max_points,
        supervised=request.supervised,
        landmarks=centres,
    )
    placed = states.projection.landmarks
    for axis, name in enumerate("xyz"[: request.projection.n_components]):
        atoms[name] = [] if placed is None else placed[:, axis]
    return GroupMap(states=states, atoms=atoms)


def _transport(run: Run, key: GroupKey, request: MapRequest) -> GroupTransport | None:
    """The group's plans; None if none were asked for or the config cannot be computed."""
    if request.credit is None:
        return None
    try:
        return transport_group(run, key, CreditConfig.from_json(request.credit), request.layer)
    except HaraError:
        return None


def _landmarks(
    run: Run, transport: GroupTransport | None, request: MapRequest
) -> tuple[np.ndarray | None, pd.DataFrame]:
    """Atoms [M, D] in the space of the states as they are mapped, and what each of them is.

    An atom is the mean of the tokens that flow into it (2b). The plans' own space may be another
    one (centred, say), so the mean is taken anew over the states that the map shows.
    """
    names = pd.DataFrame(columns=["success", "atom"])
    if transport is None or not transport.own:
        return None, names
    key = GroupKey(*request.key)
    states = run.load_states(key, request.layer)
    assert states is not None  # transport_group has just read them
    centres: list[np.ndarray] = []
    parts: list[pd.DataFrame] = []
    for success, known in transport.own.items():
        rows = [
            in_metric(states.rows(row).to(torch.float32).numpy(), request.projection.metric)[
                _own(transport.found.group, row)
            ]
            for row in known.rows
        ]
        found = atom_centres(known.plans, rows)
        centres.append(found)
        parts.append(pd.DataFrame({"success": success, "atom": np.arange(len(found))}))
    return np.concatenate(centres), pd.concat(parts, ignore_index=True)


def _own(group: RolloutGroup, row: int) -> np.ndarray:
    rollout = group.rollouts[row]
    mask = rollout.sampled_mask or (True,) * len(rollout.completion_ids)
    return np.asarray(mask, dtype=bool)
