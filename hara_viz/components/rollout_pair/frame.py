"""The frame of two rollouts over one support: an envelope with magic "HARAPAIR".

Header:

    points  L, the points of the support
    sides   two of {sample, success, tokens, cells}; cells as in `shared/cells.py`

Blocks, for the first side and then the second: shares [T, L] u16, share / 65535 of the token's
mass that a point takes; own [T] u8; gaps [T] f32, how far the token's counterparts lie, NaN where
the policy did not sample it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hara_viz.components.shared.cells import ShownCell, cells_from_json, cells_to_json
from hara_viz.components.shared.envelope import pack, pad4, unpack
from hara_viz.errors import FormatError, ShapeError

MAGIC, VERSION = b"HARAPAIR", 1
_FULL = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSide:
    """One of the two rollouts."""

    sample: int
    success: bool | None
    cells: tuple[ShownCell, ...]
    shares: np.ndarray
    """[T, L] in [0, 1]."""
    own: np.ndarray
    """[T] bool."""
    gaps: np.ndarray
    """[T]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFrame:
    """Both, over the same L points."""

    first: PairSide
    second: PairSide


def pair_side(
    *,
    sample: int,
    success: bool | None,
    cells: tuple[ShownCell, ...],
    own: np.ndarray,
    shares: np.ndarray,
    gaps: np.ndarray,
) -> PairSide:
    """A side from values over the own tokens alone.

    Args:
        sample: the rollout's number in its group.
        success: its outcome.
        cells: display cells of all T tokens.
        own: [T] bool with T_own times True.
        shares: [T_own, L].
        gaps: [T_own].

    Raises:
        ShapeError: the parts do not fit each other.
    """
    if not int(own.sum()) == len(shares) == len(gaps):
        raise ShapeError(f"{int(own.sum())} own tokens got {len(shares)} rows, {len(gaps)} gaps")
    full = np.zeros((len(own), shares.shape[1]))
    full[own] = shares
    apart = np.full(len(own), np.nan)
    apart[own] = gaps
    return PairSide(sample=sample, success=success, cells=cells, shares=full, own=own, gaps=apart)


def encode(frame: PairFrame) -> bytes:
    """The frame as bytes; equal frames give equal bytes.

    Raises:
        ShapeError: the parts of the frame do not fit each other.
    """
    n_points = frame.first.shares.shape[1]
    blocks: list[bytes] = []
    for side in (frame.first, frame.second):
        n_tokens = len(side.own)
        held = sum(cell.n_tokens for cell in side.cells)
        shapes = (side.shares.shape, side.gaps.shape, held)
        if shapes != ((n_tokens, n_points), (n_tokens,), n_tokens):
            raise ShapeError(f"a side of {n_tokens} tokens and {n_points} points got {shapes}")
        blocks += [
            np.rint(np.clip(side.shares, 0, 1) * _FULL).astype("<u2").tobytes(),
            side.own.astype("u1").tobytes(),
            side.gaps.astype("<f4").tobytes(),
        ]
    sides = [_side(side) for side in (frame.first, frame.second)]
    return pack(MAGIC, VERSION, {"points": n_points, "sides": sides}, blocks)


def decode(data: bytes) -> PairFrame:
    """The frame that `encode` wrote, within the precision of its numbers.

    Raises:
        SchemaError: another version wrote it.
        FormatError: it is no such frame, or is damaged.
    """
    header, body = unpack(data, MAGIC, VERSION)
    try:
        points, sides = int(header["points"]), list(header["sides"])
        lengths = [int(side["tokens"]) for side in sides]
        expected = sum(pad4(2 * n * points) + pad4(n) + 4 * n for n in lengths)
        if len(sides) != 2 or min(points, *lengths) < 0 or expected != len(body):
            raise ValueError(f"{len(body)} bytes of numbers, not {expected}")
        first, rest = _side_of(sides[0], points, body)
        second, _ = _side_of(sides[1], points, rest)
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the header of the pair is damaged ({error!r})") from error
    return PairFrame(first=first, second=second)


def _side(side: PairSide) -> dict[str, Any]:
    return {
        "sample": side.sample,
        "success": side.success,
        "tokens": len(side.own),
        "cells": cells_to_json(side.cells),
    }


def _side_of(found: dict[str, Any], points: int, body: bytes) -> tuple[PairSide, bytes]:
    n_tokens = int(found["tokens"])
    own_at = pad4(2 * n_tokens * points)
    gaps_at = own_at + pad4(n_tokens)
    shares = np.frombuffer(body, "<u2", n_tokens * points).reshape(n_tokens, points)
    side = PairSide(
        sample=int(found["sample"]),
        success=found["success"],
        cells=cells_from_json(found["cells"]),
        shares=shares / _FULL,
        own=np.frombuffer(body, "u1", n_tokens, own_at).astype(bool),
        gaps=np.frombuffer(body, "<f4", n_tokens, gaps_at),
    )
    return side, body[gaps_at + 4 * n_tokens :]
