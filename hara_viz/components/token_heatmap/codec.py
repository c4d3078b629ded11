"""Frame -> bytes and back, validated on both ways (`frame.js` is the browser's reader).

The layout is described in `frame.py`.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from hara_viz.components.token_heatmap.frame import MAGIC, VERSION, Frame, FrameRow, Kind, check
from hara_viz.components.token_heatmap.signals import SignalSpec, Term
from hara_viz.errors import FormatError, InvalidInputError, SchemaError

_HEAD = struct.Struct("<8sII")
_MANY = 65_536
"""Up to this many kinds an index fits 16 bits."""


def encode(frame: Frame) -> bytes:
    """The frame as bytes; equal frames give equal bytes.

    Raises:
        ShapeError: the parts of the frame do not fit each other.
        InvalidInputError: a number of a row is NaN or infinite (write None for unknown).
    """
    check(frame)
    scales = {name: _scale(np.asarray(values)) for name, values in frame.channels.items()}
    dtype = "<u2" if len(frame.kinds) <= _MANY else "<u4"
    blocks = [_padded(np.ascontiguousarray(frame.cells, dtype=dtype).tobytes())]
    for name, values in frame.channels.items():
        scaled = np.asarray(values, np.float64) / scales[name]
        blocks.append(_padded(scaled.astype("<f2").tobytes()))
    body = b"".join(blocks)
    header = _header(frame, scales)
    digest = hashlib.sha256(_json(header) + body).hexdigest()[:16]
    text = _json({"content": digest, **header})
    return _HEAD.pack(MAGIC, VERSION, len(text)) + _padded(text) + body


def decode(data: bytes) -> Frame:
    """The frame that `encode` wrote; channels as float64, within the precision of f16.

    Raises:
        SchemaError: another version wrote it.
        FormatError: it is not a frame, or is damaged.
    """
    header, body = _open(data)
    try:
        rows = tuple(_row(row) for row in header["rows"])
        kinds = tuple(_kind(kind) for kind in header["kinds"])
        channels = [(str(c["name"]), _positive(c["scale"])) for c in header["channels"]]
        signals = tuple(_signal(signal) for signal in header["signals"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(f"the header of the heatmap frame is damaged ({error!r})") from error
    n_cells, n_tokens = sum(r.n_cells for r in rows), sum(r.n_tokens for r in rows)
    size = 2 if len(kinds) <= _MANY else 4
    lengths = [_pad4(n_cells * size), *[_pad4(n_tokens * 2)] * len(channels)]
    if sum(lengths) != len(body):
        raise FormatError(
            f"the heatmap frame has {len(body)} bytes after its header; "
            f"{sum(lengths)} were expected"
        )
    cells = np.frombuffer(body, f"<u{size}", n_cells).astype(np.int64)
    values: dict[str, np.ndarray] = {}
    position = lengths[0]
    for name, scale in channels:
        half = np.frombuffer(body, "<f2", n_tokens, position)
        values[name] = half.astype(np.float64) * scale
        position += lengths[1]
    frame = Frame(rows=rows, kinds=kinds, cells=cells, channels=values, signals=signals)
    try:
        check(frame)
    except InvalidInputError as error:
        raise FormatError(f"the heatmap frame contradicts itself: {error}") from error
    return frame


def _open(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and body of a frame whose envelope and digest are in order."""
    if len(data) < _HEAD.size or data[:8] != MAGIC:
        raise FormatError("these bytes are no heatmap frame: they do not begin with HARAHEAT")
    _, version, length = _HEAD.unpack_from(data)
    if version != VERSION:
        raise SchemaError(f"the heatmap frame has version {version}; this program reads {VERSION}")
    end = _HEAD.size + _pad4(length)
    if end > len(data):
        raise FormatError(f"the heatmap frame ends within its header of {length} bytes")
    try:
        text = data[_HEAD.size : _HEAD.size + length].decode("utf-8")
        header = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the header of the heatmap frame is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise FormatError("the header of the heatmap frame is not a JSON object")
    if any(data[_HEAD.size + length : end]):
        raise FormatError("the heatmap frame is damaged: its header is not padded with zero bytes")
    content = header.pop("content", None)
    body = data[end:]
    if content != hashlib.sha256(_json(header) + body).hexdigest()[:16]:
        raise FormatError("the heatmap frame is damaged: its content does not match its digest")
    return header, body


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
                "steps": row.steps,
            }
            for row in frame.rows
        ],
        "signals": [
            {
                "name": signal.name,
                "label": signal.label,
                "meaning": signal.meaning,
                "signed": signal.signed,
                "terms": [[t.coefficient, t.channel, t.by_advantage] for t in signal.terms],
            }
            for signal in frame.signals
        ],
    }


def _json(value: object) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")
    except ValueError as error:
        raise InvalidInputError(
            "a number of a heatmap row is NaN or infinite; write None for unknown"
        ) from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _row(row: Mapping[str, Any]) -> FrameRow:
    answer = row["answer"]
    return FrameRow(
        sample=_natural(row["sample"]),
        n_cells=_natural(row["cells"]),
        n_tokens=_natural(row["tokens"]),
        reward=_optional(row["reward"], int, float),
        success=_optional(row["success"], bool),
        advantage=_optional(row["advantage"], int, float),
        finish=str(row["finish"]),
        reason=str(row["reason"]),
        extracted=_optional(row["extracted"], str),
        answer=None if answer is None else _range(answer),
        think=tuple(_range(part) for part in row["think"]),
        steps=tuple(_natural(step) for step in row["steps"]),
    )


def _kind(kind: list[Any]) -> Kind:
    text, ids, special, *raw = kind
    return Kind(str(text), tuple(_natural(i) for i in ids), bool(special), raw[0] if raw else None)


def _signal(signal: Mapping[str, Any]) -> SignalSpec:
    terms = tuple(Term(float(c), name, bool(by)) for c, name, by in signal["terms"])
    return SignalSpec(
        str(signal["name"]),
        str(signal["label"]),
        str(signal["meaning"]),
        bool(signal["signed"]),
        terms,
    )


def _range(pair: list[Any]) -> tuple[int, int]:
    first, last = pair
    return _natural(first), _natural(last)


def _optional(value: Any, *types: type) -> Any:
    if value is not None and type(value) not in types:
        raise ValueError(f"{value!r} is not {types[-1].__name__} or null")
    return value


def _positive(value: Any) -> float:
    if not 0 < float(value) < math.inf:
        raise ValueError(f"{value!r} is not a scale")
    return float(value)


def _natural(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise ValueError(f"{value!r} is not a count")
    return value


def _scale(values: np.ndarray) -> float:
    """The power of two at or above the largest finite size: f16 then keeps its three digits."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max()) if finite.size else 0.0
    return 2.0 ** min(max(math.ceil(math.log2(largest)), -1000), 1000) if largest > 0 else 1.0


def _pad4(length: int) -> int:
    return -(-length // 4) * 4


def _padded(block: bytes) -> bytes:
    return block + b"\0" * (_pad4(len(block)) - len(block))
