"""Frame -> bytes and back, validated on both ways (`frame.js` is the browser's reader).

The layout is described in `frame.py`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from hara_viz.analysis.signals import Offer, Signal, Term
from hara_viz.components.shared.envelope import pack, pad4, unpack
from hara_viz.components.token_heatmap.frame import MAGIC, VERSION, Frame, FrameRow, Kind, check
from hara_viz.errors import FormatError, InvalidInputError

_MANY = 65_536
"""Up to this many kinds an index fits 16 bits."""


def encode(frame: Frame) -> bytes:
    """The frame as bytes; equal frames give equal bytes.

    Raises:
        ShapeError: the parts of the frame do not fit each other.
        InvalidInputError: a number of a row is NaN or infinite (write None for unknown).
    """
    check(frame)
    scales = {name: scale_of(np.asarray(values)) for name, values in frame.channels.items()}
    dtype = "<u2" if len(frame.kinds) <= _MANY else "<u4"
    blocks = [np.ascontiguousarray(frame.cells, dtype=dtype).tobytes()]
    blocks += [halves(values, scales[name]) for name, values in frame.channels.items()]
    return pack(MAGIC, VERSION, _header(frame, scales), blocks)


def decode(data: bytes) -> Frame:
    """The frame that `encode` wrote; channels as float64, within the precision of f16.

    Raises:
        SchemaError: another version wrote it.
        FormatError: it is not a frame, or is damaged.
    """
    header, body = unpack(data, MAGIC, VERSION)
    try:
        rows = tuple(_row(row) for row in header["rows"])
        kinds = tuple(_kind(kind) for kind in header["kinds"])
        channels = [(str(c["name"]), scale_in(c["scale"])) for c in header["channels"]]
        signals = tuple(_signal(signal) for signal in header["signals"])
        offers = tuple(Offer(_signal(s), str(s["locked"])) for s in header["offers"])
        domains = {
            str(level): {str(name): (float(low), float(high)) for name, (low, high) in own.items()}
            for level, own in header.get("domains", {}).items()
        }
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(f"the header of the HARAHEAT frame is damaged ({error!r})") from error
    n_cells, n_tokens = sum(r.n_cells for r in rows), sum(r.n_tokens for r in rows)
    size = 2 if len(kinds) <= _MANY else 4
    lengths = [pad4(n_cells * size), *[pad4(n_tokens * 2)] * len(channels)]
    if sum(lengths) != len(body):
        raise FormatError(
            f"the HARAHEAT frame has {len(body)} bytes after its header; "
            f"{sum(lengths)} were expected"
        )
    cells = np.frombuffer(body, f"<u{size}", n_cells).astype(np.int64)
    values: dict[str, np.ndarray] = {}
    position = lengths[0]
    for name, scale in channels:
        values[name] = np.frombuffer(body, "<f2", n_tokens, position).astype(np.float64) * scale
        position += lengths[1]
    frame = Frame(
        rows=rows,
        kinds=kinds,
        cells=cells,
        channels=values,
        signals=signals,
        offers=offers,
        domains=domains,
    )
    try:
        check(frame)
    except InvalidInputError as error:
        raise FormatError(f"the HARAHEAT frame is damaged: {error}") from error
    return frame


def scale_of(values: np.ndarray) -> float:
    """The power of two at or above the largest finite size: f16 then keeps its three digits."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    return 2.0 ** min(max(math.ceil(math.log2(largest)), -1000), 1000) if largest > 0 else 1.0


def halves(values: np.ndarray, scale: float) -> bytes:
    """Values divided by their scale, as f16."""
    return (np.asarray(values, np.float64) / scale).astype("<f2").tobytes()


def scale_in(value: Any) -> float:
    """A scale as a header holds it.

    Raises:
        ValueError: it is none.
    """
    if not 0 < float(value) < math.inf:
        raise ValueError(f"{value!r} is not a scale")
    return float(value)


def natural(value: Any) -> int:
    """A count as a header holds it.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise ValueError(f"{value!r} is not a count")
    return value


def _header(frame: Frame, scales: Mapping[str, float]) -> dict[str, Any]:
    return {
        "channels": [{"name": name, "scale": scale} for name, scale in scales.items()],
        "kinds": [
            [kind.text, list(kind.ids), int(kind.special), *([kind.raw] if kind.raw else [])]
            for kind in frame.kinds
        ],
        "rows": [
            {
                "sample": row.sample,
                "cells": row.n_cells,
                "tokens": row.n_tokens,
                "reward": row.reward,
                "success": row.success,
                "advantage": row.advantage,
                "finish": row.finish,
                "reason": row.reason,
                "extracted": row.extracted,
                "answer": row.answer,
                "think": row.think,
                # Gaps take half the digits of places.
                "gaps": [b - a for a, b in pairwise(row.steps)] if row.steps else None,
            }
            for row in frame.rows
        ],
        "signals": [_definition(signal) for signal in frame.signals],
        "offers": [{**_definition(offer.signal), "locked": offer.locked} for offer in frame.offers],
        **({"domains": frame.domains} if frame.domains else {}),
    }


def _definition(signal: Signal) -> dict[str, Any]:
    return {
        "name": signal.name,
        "label": signal.label,
        "meaning": signal.meaning,
        "signed": signal.signed,
        "terms": [[t.coefficient, t.channel, t.by_advantage] for t in signal.terms],
    }


def _row(row: Mapping[str, Any]) -> FrameRow:
    answer = row["answer"]
    return FrameRow(
        sample=natural(row["sample"]),
        n_cells=natural(row["cells"]),
        n_tokens=natural(row["tokens"]),
        reward=_optional(row["reward"], int, float),
        success=_optional(row["success"], bool),
        advantage=_optional(row["advantage"], int, float),
        finish=str(row["finish"]),
        reason=str(row["reason"]),
        extracted=_optional(row["extracted"], str),
        answer=None if answer is None else _range(answer),
        think=tuple(_range(part) for part in row["think"]),
        steps=() if row["gaps"] is None else (0, *accumulate(map(natural, row["gaps"]))),
    )


def _kind(kind: list[Any]) -> Kind:
    text, ids, special, *raw = kind
    return Kind(str(text), tuple(natural(i) for i in ids), bool(special), raw[0] if raw else None)


def _signal(signal: Mapping[str, Any]) -> Signal:
    terms = tuple(Term(float(c), name, bool(by)) for c, name, by in signal["terms"])
    return Signal(
        str(signal["name"]),
        str(signal["label"]),
        str(signal["meaning"]),
        bool(signal["signed"]),
        terms,
    )


def _range(pair: list[Any]) -> tuple[int, int]:
    first, last = pair
    return natural(first), natural(last)


def _optional(value: Any, *types: type) -> Any:
    if value is not None and type(value) not in types:
        raise ValueError(f"{value!r} is not {types[-1].__name__} or null")
    return value
