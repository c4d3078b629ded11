"""One map of many groups: all of a run, or one problem under every checkpoint of a series.

One fit for all of them, on points drawn evenly over the groups; the rest are placed on the finished
map. States are read group by group, so that no more than the fit and one group are held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
from hara_viz.backend.project import points_of
from hara_viz.errors import InvalidInputError, ShapeError
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, Progress, Report, ignore_progress

__all__ = ["JointMap", "JointRequest", "MapPlace", "map_jointly"]

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


def map_jointly(request: JointRequest, report: Report = ignore_progress) -> JointMap:
    """One map of the groups that a request names.

    Raises:
        InvalidInputError: no states, states of different sizes, or a setting out of range.
    """
    tables = [table for _, table in _read(request, report, "reading")]
    if not sum(map(len, tables)):
        raise InvalidInputError(
            f"none of these {len(request.places)} groups has states of layer {request.layer}; fill "
            "them in with `hara-viz states`"
        )
    table = pd.concat(tables, ignore_index=True)
    seed = request.projection.seed
    places = np.asarray(table["place"], np.int64)
    shown = fair_choice(places, MAX_SHOWN, seed=seed)
    fit = shown[fair_choice(places[shown], request.max_fit, seed=seed)]
    points = _rows(request, fit, table, report)
    report(Progress(stage="fitting the map", done=0, total=1, unit="maps"))
    fitted = fit_map(points, request.projection)
    coordinates = np.full((len(table), request.projection.n_components), np.nan, np.float32)
    coordinates[fit] = fitted.projection.coordinates
    rest = np.setdiff1d(shown, fit, assume_unique=True)
    _place_rest(request, fitted, rest, table, coordinates, report)
    table["in_fit"] = np.isin(np.arange(len(table)), fit)
    for axis, name in enumerate("xyz"[: request.projection.n_components]):
        table[name] = coordinates[:, axis]
    quality, n_compared = _quality(request, points, fitted, places[fit])
    return JointMap(
        points=table.iloc[shown].reset_index(drop=True),
        projection=fitted.projection,
        layer=request.layer,
        n_states=len(table),
        quality=quality,
        n_compared=n_compared,
        notes=(*_notes(request, table, len(shown), len(fit)), *fitted.projection.notes),
    )


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


def _rows(
    request: JointRequest, chosen: np.ndarray, table: pd.DataFrame, report: Report
) -> np.ndarray:
    """The points [F, D] of rows of the table."""
    parts: list[np.ndarray] = []
    start = 0
    for points, _ in _read(request, report, "taking the points of the fit"):
        own = chosen[(chosen >= start) & (chosen < start + len(points))] - start
        parts.append(points[own])
        start += len(points)
    if start != len(table):
        raise ShapeError("a run changed while its map was made; ask for it again")
    return np.concatenate(parts)


def _place_rest(
    request: JointRequest,
    fitted: FittedMap,
    rest: np.ndarray,
    table: pd.DataFrame,
    coordinates: np.ndarray,
    report: Report,
) -> None:
    """Put the points that took no part in the fit on the map, into `coordinates`."""
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
    if start != len(table):
        raise ShapeError("a run changed while its map was made; ask for it again")


def _quality(
    request: JointRequest, points: np.ndarray, fitted: FittedMap, places: np.ndarray
) -> tuple[MapQuality | None, int]:
    some = fair_choice(places, QUALITY_POINTS, seed=request.projection.seed)
    if len(some) < 4:
        return None, len(some)
    true = in_metric(points[some], request.projection.metric)
    return map_quality(true, fitted.projection.coordinates[some]), len(some)


def _notes(request: JointRequest, table: pd.DataFrame, n_shown: int, n_fit: int) -> Iterator[str]:
    missing = len(request.places) - len(set(table["place"].tolist()))
    if missing:
        yield f"{missing} of {len(request.places)} groups have no states of layer {request.layer}"
    if n_shown < len(table):
        yield f"{n_shown:,} of {len(table):,} points are shown, evenly over groups"
    if n_fit < n_shown:
        yield (
            f"the map was fitted to {n_fit:,} points, drawn evenly over groups; the other "
            f"{n_shown - n_fit:,} were placed on it"
        )
