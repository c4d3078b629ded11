"""One map of many groups: all of a run, or one problem under every checkpoint of a series.

One fit for all of them, on points drawn evenly over the groups; the rest are placed on the finished
map. States are read group by group, so that no more than the fit and one group are held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from hara_viz.analysis.map_quality import MapQuality, map_quality
from hara_viz.analysis.projection import (
    FittedMap,
    Projection,
    ProjectionConfig,
    fair_choice,
    fit_map,
    in_metric,
)
from hara_viz.backend.map_cache import keep_map, kept_map, map_name
from hara_viz.backend.project import points_of
from hara_viz.errors import InvalidInputError, ShapeError
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, Progress, Report, ignore_progress

__all__ = [
    "JointMap",
    "JointPoints",
    "JointRequest",
    "MapPlace",
    "compared",
    "fit_rows",
    "joint_points",
    "map_jointly",
]

MAX_FIT = 20_000
"""Points that take part in the fit."""
MAX_SHOWN = 250_000
QUALITY_POINTS = 2_000
"""Neighbourhoods are compared among so many points of the fit; it takes their square."""
_CHUNK = 5_000


class MapPlace(NamedTuple):
    """A group on a joint map."""

    run: str
    """The run's path."""
    stamp: int
    """When the run last changed."""
    key: tuple[int | None, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class JointRequest:
    """Which map: everything that its picture depends on. Hashable, so that it can name a cache."""

    places: tuple[MapPlace, ...]
    layer: int
    projection: ProjectionConfig
    granularity: str = "token"
    max_fit: int = MAX_FIT


@dataclass(frozen=True, slots=True, kw_only=True)
class JointMap:
    """A map of several groups."""

    points: pd.DataFrame
    """One row per point: x, y (and z), place (an index into the request's places), sample, token,
    n_tokens, success, in_fit."""
    projection: Projection
    """Its coordinates are those of the points of the fit."""
    layer: int
    n_states: int
    """Tokens or steps there were; `points` may hold fewer."""
    quality: MapQuality | None
    """Among `n_compared` points of the fit; None: too few."""
    n_compared: int
    notes: tuple[str, ...]
    """What was left out, in sentences."""


@dataclass(frozen=True, slots=True)
class JointPoints:
    """What a joint map is made of, before it is made."""

    table: pd.DataFrame
    """All points: place, sample, token, n_tokens, success."""
    shown: np.ndarray
    """Rows of the table that are on the map, ascending."""
    fit: np.ndarray
    """Those of them that take part in the fit, ascending."""
    digest: np.ndarray
    """Of all states and of what they are: equal ones, equal points."""


def map_jointly(request: JointRequest, report: Report = ignore_progress) -> JointMap:
    """One map of the groups that a request names; a UMAP is kept with the first one's run.

    Raises:
        InvalidInputError: no states, states of different sizes, or a setting out of range.
    """
    found = joint_points(request, report)
    fitted = _kept(request, found) or _fitted(request, found, report)
    coordinates, projection, quality = fitted
    points = found.table.iloc[found.shown].reset_index(drop=True)
    points["in_fit"] = np.isin(found.shown, found.fit)
    for axis, name in enumerate("xyz"[: request.projection.n_components]):
        points[name] = coordinates[:, axis]
    return JointMap(
        points=points,
        projection=projection,
        layer=request.layer,
        n_states=len(found.table),
        quality=quality,
        n_compared=len(compared(request, found)),
        notes=(*_notes(request, found), *projection.notes),
    )


def joint_points(request: JointRequest, report: Report = ignore_progress) -> JointPoints:
    """The points of a request, and which of them are shown and fitted.

    Raises:
        InvalidInputError: none of the groups has states, or they are of different sizes.
    """
    digest = blake2b(digest_size=16)
    tables: list[pd.DataFrame] = []
    for points, table in _read(request, report, "reading"):
        tables.append(table)
        digest.update(np.ascontiguousarray(points).tobytes())
        digest.update(table[["place", "sample", "token", "n_tokens"]].to_numpy("<i8").tobytes())
    if not sum(map(len, tables)):
        raise InvalidInputError(
            f"none of these {len(request.places)} groups has states of layer {request.layer}; fill "
            "them in with `hara-viz states`"
        )
    table = pd.concat(tables, ignore_index=True)
    places, seed = np.asarray(table["place"], np.int64), request.projection.seed
    shown = fair_choice(places, MAX_SHOWN, seed=seed)
    fit = shown[fair_choice(places[shown], request.max_fit, seed=seed)]
    return JointPoints(table, shown, fit, np.frombuffer(digest.digest(), np.uint8))


def fit_rows(
    request: JointRequest, found: JointPoints, report: Report = ignore_progress
) -> np.ndarray:
    """The points [F, D] of the fit, read anew.

    Raises:
        ShapeError: a run changed since they were chosen.
    """
    parts: list[np.ndarray] = []
    start = 0
    for points, _ in _read(request, report, "taking the points of the fit"):
        own = found.fit[(found.fit >= start) & (found.fit < start + len(points))] - start
        parts.append(points[own])
        start += len(points)
    _check_unchanged(start, found)
    return np.concatenate(parts)


def compared(request: JointRequest, found: JointPoints) -> np.ndarray:
    """Which points of the fit neighbourhoods are compared among, evenly over groups."""
    places = np.asarray(found.table["place"], np.int64)[found.fit]
    return fair_choice(places, QUALITY_POINTS, seed=request.projection.seed)


_Finished = tuple[np.ndarray, Projection, MapQuality | None]
"""Coordinates of the points shown, the fit, and its quality."""


def _fitted(request: JointRequest, found: JointPoints, report: Report) -> _Finished:
    points = fit_rows(request, found, report)
    report(Progress(stage="fitting the map", done=0, total=1, unit="maps"))
    fitted = fit_map(points, request.projection)
    coordinates = np.full((len(found.table), request.projection.n_components), np.nan, np.float32)
    coordinates[found.fit] = fitted.projection.coordinates
    _place_rest(request, fitted, found, coordinates, report)
    some = compared(request, found)
    quality = None
    if len(some) >= 4:
        true = in_metric(points[some], request.projection.metric)
        quality = map_quality(true, fitted.projection.coordinates[some])
    finished = coordinates[found.shown], fitted.projection, quality
    if request.projection.method == "umap":
        _keep(request, found, finished)
    return finished


def _place_rest(
    request: JointRequest,
    fitted: FittedMap,
    found: JointPoints,
    coordinates: np.ndarray,
    report: Report,
) -> None:
    """Put the points that took no part in the fit on the map, into `coordinates`."""
    rest = np.setdiff1d(found.shown, found.fit, assume_unique=True)
    if not len(rest):
        return
    start = done = 0
    for points, _ in _read(request, ignore_progress, ""):
        own = rest[(rest >= start) & (rest < start + len(points))]
        for first in range(0, len(own), _CHUNK):
            some = own[first : first + _CHUNK]
            coordinates[some] = fitted.place(points[some - start])
            done += len(some)
            report(Progress(stage="placing the rest", done=done, total=len(rest), unit="points"))
        start += len(points)
    _check_unchanged(start, found)


def _kept(request: JointRequest, found: JointPoints) -> _Finished | None:
    """The map of the very same points and settings, if it was made before."""
    held = kept_map(_home(request), _name(request, found))
    if held is None or {"coordinates", "fit"} - set(held[0]):
        return None
    arrays, about = held
    projection = Projection(
        coordinates=arrays["fit"],
        method=str(about["method"]),
        explained=tuple(about["explained"]),
        notes=tuple(about["notes"]),
    )
    quality = None if about["quality"] is None else MapQuality(*about["quality"])
    return arrays["coordinates"], projection, quality


def _keep(request: JointRequest, found: JointPoints, finished: _Finished) -> None:
    coordinates, projection, quality = finished
    about = {
        "method": projection.method,
        "explained": projection.explained,
        "notes": projection.notes,
        "quality": quality,
    }
    arrays = {"coordinates": coordinates, "fit": projection.coordinates}
    keep_map(_home(request), _name(request, found), arrays, about)


def _home(request: JointRequest) -> Path:
    return Path(request.places[0].run)


def _name(request: JointRequest, found: JointPoints) -> str:
    limits = {"max_fit": request.max_fit, "max_shown": MAX_SHOWN, "compared": QUALITY_POINTS}
    return map_name({"digest": found.digest}, {"joint": 1, **limits, **asdict(request.projection)})


def _read(
    request: JointRequest, report: Report, stage: str
) -> Iterator[tuple[np.ndarray, pd.DataFrame]]:
    """Points [N, D] and what they are, of one group after the other."""
    opened: dict[str, Run] = {}
    width = 0
    for number, place in enumerate(request.places):
        report(Progress(stage=stage, done=number, total=len(request.places), unit="groups"))
        run = opened.setdefault(place.run, open_run(place.run))
        key = GroupKey(*place.key)
        states = run.load_states(key, request.layer)
        if states is None:
            continue
        if width not in (0, states.states.shape[1]):
            raise InvalidInputError(
                f"{run.name} has states of {states.states.shape[1]} dimensions, the runs before it "
                f"{width}; choose runs of one kind of model"
            )
        width = states.states.shape[1]
        group, threshold = run.load_group(key), run.info.success_threshold
        points, table = points_of(group, states, request.granularity, threshold)
        table = table[["sample", "success", "token", "n_tokens"]]
        yield points, table.assign(place=number)


def _check_unchanged(n_read: int, found: JointPoints) -> None:
    if n_read != len(found.table):
        raise ShapeError("a run changed while its map was made; ask for it again")


def _notes(request: JointRequest, found: JointPoints) -> Iterator[str]:
    n_all, n_shown, n_fit = len(found.table), len(found.shown), len(found.fit)
    missing = len(request.places) - len(set(found.table["place"].tolist()))
    if missing:
        yield f"{missing} of {len(request.places)} groups have no states of layer {request.layer}"
    if n_shown < n_all:
        yield f"{n_shown:,} of {n_all:,} points are shown, evenly over groups"
    if n_fit < n_shown:
        yield (
            f"the map was fitted to {n_fit:,} points, drawn evenly over groups; the other "
            f"{n_shown - n_fit:,} were placed on it"
        )
