"""Atoms of barycenters on a map of many groups, group by group and outcome by outcome."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hara_viz.analysis.landmarks import NEAREST, place_near
from hara_viz.analysis.projection import fit_map, in_metric
from hara_viz.backend.joint_map import (
    JointRequest,
    fit_rows,
    joint_points,
    map_jointly,
)
from hara_viz.backend.state_map import atom_landmarks
from hara_viz.backend.transport import ClassAtoms, GroupTransport, transport_group
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, Progress, Report, Rollout, ignore_progress

__all__ = ["CreditOfRun", "JointAtoms", "joint_atoms"]

CreditOfRun = tuple[tuple[str, str], ...]
"""(path of a run, `CreditConfig` as JSON) of each run of a map."""
_WORDS = 3


@dataclass(frozen=True, slots=True)
class JointAtoms:
    """Atoms on a joint map."""

    table: pd.DataFrame
    """One row per atom: x, y (and z), place (of the request), success, atom (its column in the
    plans), mentions (up to three (sample, token), nearest first)."""
    n_without: int
    """Groups asked for that have no barycenter: no states, or no two rollouts of one outcome."""
    how: str
    """How they were placed, in words."""


def joint_atoms(
    request: JointRequest,
    credit: CreditOfRun,
    places: tuple[int, ...],
    report: Report = ignore_progress,
) -> JointAtoms:
    """The atoms of the own barycenters of some groups of a joint map.

    Args:
        request: the map.
        credit: under which config each run's barycenters are computed.
        places: whose atoms, by their index in the request.
        report: hears of progress in groups.

    Raises:
        InvalidInputError: as `map_jointly`.
    """
    configs = {run: CreditConfig.from_json(text) for run, text in credit}
    centres: list[np.ndarray] = []
    tables: list[pd.DataFrame] = []
    for number, place in enumerate(places):
        report(Progress(stage="barycenters", done=number, total=len(places), unit="groups"))
        asked = request.places[place]
        found = _atoms_of(open_run(asked.run), GroupKey(*asked.key), configs[asked.run], request)
        if found is not None:
            centres.append(found[0])
            tables.append(found[1].assign(place=place))
    columns = ["success", "atom", "mentions", "place"]
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)
    placed, how = _placed(request, centres, report)
    for axis, name in enumerate("xyz"[: request.projection.n_components]):
        table[name] = placed[:, axis]
    return JointAtoms(table, len(places) - len(tables), how)


def _atoms_of(
    run: Run, key: GroupKey, config: CreditConfig, request: JointRequest
) -> tuple[np.ndarray, pd.DataFrame] | None:
    try:
        transport = transport_group(run, key, config, request.layer)
        marks = atom_landmarks(run, transport, request.projection.metric)
    except HaraError:
        return None
    if marks is None:
        return None
    words = {
        (success, atom.index): _mentions(transport, own, place)
        for success, own in transport.own.items()
        for place, atom in enumerate(own.atoms)
    }
    names = zip(marks.names["success"], marks.names["atom"], strict=True)
    mentions = [words.get((bool(success), int(atom)), ()) for success, atom in names]
    return marks.centres, marks.names.assign(mentions=pd.Series(mentions, dtype=object))


def _mentions(
    transport: GroupTransport, own: ClassAtoms, place: int
) -> tuple[tuple[int, int], ...]:
    rollouts = transport.found.group.rollouts
    found = own.atoms[place].mentions[:_WORDS]
    return tuple((rollouts[m.row].sample, _token(rollouts[m.row], m.token)) for m in found)


def _token(rollout: Rollout, own_token: int) -> int:
    mask = rollout.sampled_mask
    if mask is None:
        return own_token
    return [token for token, own in enumerate(mask) if own][own_token]


def _placed(
    request: JointRequest, centres: list[np.ndarray], report: Report
) -> tuple[np.ndarray, str]:
    projection = request.projection
    if not centres:
        return np.empty((0, projection.n_components), np.float32), ""
    marks = np.concatenate(centres)
    points = fit_rows(request, joint_points(request, report), report)
    finished = map_jointly(request, report).projection
    if finished.method == "pca":
        return fit_map(points, projection).place(marks), "by PCA's axes"
    marks, points = (in_metric(some, projection.metric) for some in (marks, points))
    how = f"at the weighted mean of the places of the {NEAREST} states nearest to each"
    return place_near(marks, points, finished.coordinates), how
