"""An envelope of bytes: what every frame of a canvas component looks like from outside.

    0   8 bytes  magic, names the kind of frame
    8   u32      version of that kind
    12  u32      length of the header in bytes
    16  header   JSON (UTF-8), zero bytes up to a multiple of 4
        blocks   numbers, one after the other, each padded to a multiple of 4

All little-endian. The header's "content" is a digest over the rest of it and the blocks: equal
content, equal frame, and damage is told apart from a frame. `envelope.js` is the browser's reader.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from hara_viz.errors import FormatError, InvalidInputError, SchemaError

_HEAD = struct.Struct("<8sII")


def pack(magic: bytes, version: int, header: Mapping[str, Any], blocks: Sequence[bytes]) -> bytes:
    """Header and blocks as bytes; equal content gives equal bytes.

    Raises:
        InvalidInputError: a number in the header is NaN or infinite (write None for unknown).
    """
    body = b"".join(padded(block) for block in blocks)
    text = _json({"content": _digest(header, body), **header})
    return _HEAD.pack(magic, version, len(text)) + padded(text) + body


def unpack(data: bytes, magic: bytes, version: int) -> tuple[dict[str, Any], bytes]:
    """Header (without "content") and body of an envelope that is in order.

    Raises:
        SchemaError: another version wrote it.
        FormatError: it is no such frame, or is damaged.
    """
    name = magic.decode("ascii")
    if len(data) < _HEAD.size or data[:8] != magic:
        raise FormatError(f"these bytes are no such frame: they do not begin with {name}")
    _, found, length = _HEAD.unpack_from(data)
    if found != version:
        raise SchemaError(f"the {name} frame has version {found}; this program reads {version}")
    end = _HEAD.size + pad4(length)
    if end > len(data):
        raise FormatError(f"the {name} frame ends within its header of {length} bytes")
    try:
        text = data[_HEAD.size : _HEAD.size + length].decode("utf-8", "surrogatepass")
        header = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the header of the {name} frame is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise FormatError(f"the header of the {name} frame is not a JSON object")
    content, body = header.pop("content", None), data[end:]
    if content != _digest(header, body) or any(data[_HEAD.size + length : end]):
        raise FormatError(f"the {name} frame is damaged: its content does not match its digest")
    return header, body


def pad4(length: int) -> int:
    """The next multiple of 4."""
    return -(-length // 4) * 4


def padded(block: bytes) -> bytes:
    """A block with zero bytes up to a multiple of 4."""
    return block + b"\0" * (pad4(len(block)) - len(block))


def _digest(header: Mapping[str, Any], body: bytes) -> str:
    return hashlib.sha256(_json(header) + body).hexdigest()[:16]


def _json(value: object) -> bytes:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise InvalidInputError(
            "a number of a frame's header is NaN or infinite; write None for unknown"
        ) from error
    return text.encode("utf-8", "surrogatepass")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")
