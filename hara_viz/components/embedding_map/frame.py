"""The frame of a map: points with the text they stand for, a colour each, and atoms on top.

An envelope (`shared/envelope.py`) with magic "HARAEMBD". Header:

    name      of the map: what comes back with a lasso says which map it was drawn on
    points, atoms   how many (N, M)
    rollouts  [{sample, success, tokens, cells, group, here}], cells as in `shared/cells.py`
    colour    {label, kind: "sequential" | "signed" | "categories", domain: [low, high] | null,
              categories: [text, …]}
    atom_labels     M of [success, name, text]

Blocks: x, y [N] f32; row [N] u32, an index into rollouts; token [N] u32, the first token of the
point, and span [N] u32, how many it stands for; value [N] f32 (NaN = unknown; a category's index);
atom_x, atom_y [M] f32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hara_viz.components.shared.cells import ShownCell, cells_from_json, cells_to_json
from hara_viz.components.shared.envelope import pack, unpack
from hara_viz.errors import FormatError, ShapeError

MAGIC, VERSION = b"HARAEMBD", 2
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
        "atom_labels": [[bool(a.success), int(a.name), a.text] for a in frame.atoms],
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
        n_points, n_atoms = int(header["points"]), int(header["atoms"])
        rollouts = tuple(
            MapRollout(
                int(r["sample"]),
                r["success"],
                cells_from_json(r["cells"]),
                str(r["group"]),
                bool(r["here"]),
            )
            for r in header["rollouts"]
        )
        labels = [(bool(s), int(n), str(t)) for s, n, t in header["atom_labels"]]
        colour: dict[str, Any] = header["colour"]
        domain = None if colour["domain"] is None else (*map(float, colour["domain"]),)
        categories = tuple(str(c) for c in colour["categories"])
        kind, label, name = str(colour["kind"]), str(colour["label"]), str(header["name"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the header of the map's frame is damaged ({error!r})") from error
    if min(n_points, n_atoms) < 0 or len(body) != 4 * (6 * n_points + 2 * n_atoms):
        raise FormatError(
            f"the map's frame has {len(body)} bytes of numbers; {n_points} points and {n_atoms} "
            "atoms take others"
        )
    kinds = ["<f4", "<f4", "<u4", "<u4", "<u4", "<f4"]
    x, y, row, token, span, values = (
        np.frombuffer(body, kind, n_points, 4 * n_points * i) for i, kind in enumerate(kinds)
    )
    atom_x, atom_y = (
        np.frombuffer(body, "<f4", n_atoms, 24 * n_points + 4 * n_atoms * i) for i in (0, 1)
    )
    frame = MapFrame(
        name=name,
        rollouts=rollouts,
        x=x,
        y=y,
        row=row,
        token=token,
        span=span,
        colouring=Colouring(
            label=label,
            kind=kind,
            values=values,
            domain=domain,  # pyright: ignore[reportArgumentType]
            categories=categories,
        ),
        atoms=tuple(
            MapAtom(*parts, float(a), float(b))
            for parts, a, b in zip(labels, atom_x, atom_y, strict=True)
        ),
    )
    try:
        _check(frame)
    except ShapeError as error:
        raise FormatError(f"the map's frame contradicts itself: {error}") from error
    return frame


def _check(frame: MapFrame) -> None:
    n_points = len(frame.x)
    for name in ("y", "row", "token", "span"):
        if len(getattr(frame, name)) != n_points:
            raise ShapeError(f"a map of {n_points} points got {len(getattr(frame, name))} {name}")
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
