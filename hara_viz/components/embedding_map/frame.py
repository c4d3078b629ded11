"""The frame of a map: points with the text they stand for, a colour each, and atoms on top.

An envelope (`shared/envelope.py`) with magic "HARAEMBD". Header:

    name      of the map: what comes back with a lasso says which map it was drawn on
    points, atoms   how many (N, M)
    rollouts  [{sample, success, tokens, cells, group, here}], cells as in `shared/cells.py`
    colour    {label, kind: "sequential" | "signed" | "categories", domain: [low, high] | null,
              categories: [text, …]}
    atom_labels     M of [success, name, text, group]
    paths     indices of the rollouts whose way over the map is drawn
    anchors   [point, number] of each: anchors that are marked on points of those rollouts
    slices    names of S further maps of the same points (0 or at least 2); `slice`: the one that is
              shown first

Blocks: x, y [N] f32; row [N] u32, an index into rollouts; token [N] u32, the first token of the
point, and span [N] u32, how many it stands for; value [N] f32 (NaN = unknown; a category's index);
atom_x, atom_y [M] f32; x, y [N] f32 of each slice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hara_viz.components.shared.cells import ShownCell, cells_from_json, cells_to_json
from hara_viz.components.shared.envelope import pack, unpack
from hara_viz.errors import FormatError, ShapeError

MAGIC, VERSION = b"HARAEMBD", 4
KINDS = ("sequential", "signed", "categories")


class MapRollout(NamedTuple):
    """A rollout that points belong to."""

    sample: int
    success: bool | None
    cells: tuple[ShownCell, ...]
    group: str = ""
    """What its group is called, on a map of several."""
    here: bool = True
    """Whether its group is the selected one; a click on another's point asks to go there."""


class MapAtom(NamedTuple):
    """A barycenter's atom on the map."""

    success: bool
    name: int
    text: str
    x: float
    y: float
    group: str = ""
    """What its group is called, on a map of several."""


class MapAnchor(NamedTuple):
    """An anchor of the structure cost, marked on the point of the token that is nearest to it."""

    point: int
    number: int
    """Its place along the rollout, from 0."""


class MapSlice(NamedTuple):
    """The same points on one of several maps."""

    name: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class Colouring:
    """What the colours of the points mean."""

    label: str
    kind: str
    """One of KINDS."""
    values: np.ndarray
    """[N]; NaN = unknown; indices into `categories` for that kind."""
    domain: tuple[float, float] | None = None
    """Values at the ends of the scale; None for categories."""
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MapFrame:
    """N points in the plane."""

    name: str
    rollouts: tuple[MapRollout, ...]
    x: np.ndarray
    y: np.ndarray
    row: np.ndarray
    """[N] index into `rollouts`."""
    token: np.ndarray
    """[N] first token of each point."""
    span: np.ndarray
    """[N] number of tokens that it stands for."""
    colouring: Colouring
    atoms: tuple[MapAtom, ...] = ()
    paths: tuple[int, ...] = ()
    """Indices of the rollouts whose points are joined by a line, in the order of the text."""
    anchors: tuple[MapAnchor, ...] = ()
    slices: tuple[MapSlice, ...] = ()
    """Maps that a reader turns to and fro between; none, or at least two."""
    slice: int = 0
    """The one that is shown first; `x` and `y` are its places."""


def encode(frame: MapFrame) -> bytes:
    """The frame as bytes; equal frames give equal bytes.

    Raises:
        ShapeError: the parts of the frame do not fit each other.
        InvalidInputError: an end of the colour domain is NaN or infinite.
    """
    _check(frame)
    colouring = frame.colouring
    header = {
        "name": frame.name,
        "points": len(frame.x),
        "atoms": len(frame.atoms),
        "rollouts": [
            {
                "sample": rollout.sample,
                "success": rollout.success,
                "tokens": sum(cell.n_tokens for cell in rollout.cells),
                "cells": cells_to_json(rollout.cells),
                "group": rollout.group,
                "here": rollout.here,
            }
            for rollout in frame.rollouts
        ],
        "colour": {
            "label": colouring.label,
            "kind": colouring.kind,
            "domain": colouring.domain,
            "categories": list(colouring.categories),
        },
        "atom_labels": [[bool(a.success), int(a.name), a.text, a.group] for a in frame.atoms],
        "paths": [int(row) for row in frame.paths],
        "anchors": [[int(point), int(number)] for point, number in frame.anchors],
        "slices": [one.name for one in frame.slices],
        "slice": frame.slice,
    }
    columns = [
        (frame.x, "<f4"),
        (frame.y, "<f4"),
        (frame.row, "<u4"),
        (frame.token, "<u4"),
        (frame.span, "<u4"),
        (colouring.values, "<f4"),
        ([atom.x for atom in frame.atoms], "<f4"),
        ([atom.y for atom in frame.atoms], "<f4"),
        *((places, "<f4") for one in frame.slices for places in (one.x, one.y)),
    ]
    return pack(MAGIC, VERSION, header, [np.asarray(v, kind).tobytes() for v, kind in columns])


def decode(data: bytes) -> MapFrame:
    """The frame that `encode` wrote, within the precision of f32.

    Raises:
        SchemaError: another version wrote it.
        FormatError: it is no such frame, or is damaged.
    """
    header, body = unpack(data, MAGIC, VERSION)
    try:
        frame = _read(header, body)
        _check(frame)
    except ShapeError as error:
        raise FormatError(f"the map's frame contradicts itself: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the header of the map's frame is damaged ({error!r})") from error
    return frame


def _read(header: dict[str, Any], body: bytes) -> MapFrame:
    n_points, n_atoms = int(header["points"]), int(header["atoms"])
    slices = [str(name) for name in header["slices"]]
    n_numbers = (6 + 2 * len(slices)) * n_points + 2 * n_atoms
    if min(n_points, n_atoms) < 0 or len(body) != 4 * n_numbers:
        raise FormatError(
            f"the map's frame has {len(body)} bytes of numbers; {n_points} points and {n_atoms} "
            "atoms take others"
        )
    kinds = ["<f4", "<f4", "<u4", "<u4", "<u4", "<f4"]
    x, y, row, token, span, values = (
        np.frombuffer(body, kind, n_points, 4 * n_points * i) for i, kind in enumerate(kinds)
    )
    atom_places = np.frombuffer(body, "<f4", 2 * n_atoms, 24 * n_points).reshape(2, n_atoms)
    further = np.frombuffer(body, "<f4", -1, 24 * n_points + 8 * n_atoms)
    places = further.reshape(len(slices), 2, n_points)
    return MapFrame(
        name=str(header["name"]),
        rollouts=tuple(_rollout(found) for found in header["rollouts"]),
        x=x,
        y=y,
        row=row,
        token=token,
        span=span,
        colouring=_colouring(header["colour"], values),
        atoms=tuple(
            MapAtom(bool(success), int(name), str(text), float(at[0]), float(at[1]), str(group))
            for (success, name, text, group), at in zip(
                header["atom_labels"], atom_places.T, strict=True
            )
        ),
        paths=tuple(int(row) for row in header["paths"]),
        anchors=tuple(MapAnchor(int(point), int(number)) for point, number in header["anchors"]),
        slices=tuple(MapSlice(name, *own) for name, own in zip(slices, places, strict=True)),
        slice=int(header["slice"]),
    )


def _rollout(found: dict[str, Any]) -> MapRollout:
    cells = cells_from_json(found["cells"])
    group, here = str(found["group"]), bool(found["here"])
    return MapRollout(int(found["sample"]), found["success"], cells, group, here)


def _colouring(found: dict[str, Any], values: np.ndarray) -> Colouring:
    domain = None if found["domain"] is None else tuple(float(end) for end in found["domain"])
    return Colouring(
        label=str(found["label"]),
        kind=str(found["kind"]),
        values=values,
        domain=domain,  # pyright: ignore[reportArgumentType]
        categories=tuple(str(name) for name in found["categories"]),
    )


def _check(frame: MapFrame) -> None:
    n_points = len(frame.x)
    for name in ("y", "row", "token", "span"):
        if len(getattr(frame, name)) != n_points:
            raise ShapeError(f"a map of {n_points} points got {len(getattr(frame, name))} {name}")
    if len(frame.slices) == 1 or not 0 <= frame.slice < max(1, len(frame.slices)):
        raise ShapeError(f"a map of {len(frame.slices)} slices shows slice {frame.slice} first")
    for one in frame.slices:
        if (len(one.x), len(one.y)) != (n_points, n_points):
            raise ShapeError(f"a slice of {len(one.x)} places is no map of {n_points} points")
    if any(not 0 <= row < len(frame.rollouts) for row in frame.paths):
        raise ShapeError(f"paths {frame.paths} are not among {len(frame.rollouts)} rollouts")
    if any(not 0 <= anchor.point < n_points or anchor.number < 0 for anchor in frame.anchors):
        raise ShapeError(f"an anchor is marked on none of {n_points} points")
    colouring = frame.colouring
    if colouring.kind not in KINDS or len(colouring.values) != n_points:
        raise ShapeError(
            f"a map of {n_points} points got {len(colouring.values)} colours of kind "
            f"{colouring.kind!r}"
        )
    lengths = np.array([sum(cell.n_tokens for cell in r.cells) for r in frame.rollouts] or [0])
    rows = np.asarray(frame.row, np.int64)
    if n_points and (rows.max() >= len(frame.rollouts) or rows.min() < 0):
        raise ShapeError(f"a point names rollout {rows.max()} of {len(frame.rollouts)}")
    ends = np.asarray(frame.token, np.int64) + np.asarray(frame.span, np.int64)
    if n_points and (np.asarray(frame.span).min() < 1 or (ends > lengths[rows]).any()):
        raise ShapeError("a point stands for tokens that its rollout does not have")
