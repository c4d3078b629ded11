"""The frame of one further signal: what a reader asked for, apart from the base frame.

An envelope with magic "HARASIGN" and version 1: the header names the signal, the channel that it
brings, and the base frame ("base": its content) whose tokens it fits; the one block is [N] f16,
stored divided by "scale", NaN = unknown. `signal_frame.js` is the browser's reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from hara_viz.components.shared.envelope import pack, pad4, unpack
from hara_viz.components.token_heatmap.codec import halves, natural, scale_in, scale_of
from hara_viz.errors import FormatError, ShapeError

MAGIC, VERSION = b"HARASIGN", 1
_CONTENT = re.compile(rb'\{"content":"([0-9a-f]{16})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalFrame:
    """A channel that comes after its base frame."""

    base: str
    """`content_of` the base frame."""
    signal: str
    channel: str
    values: np.ndarray
    """[N]"""


def content_of(base: bytes) -> str:
    """The digest that a frame carries of itself.

    Raises:
        FormatError: these bytes carry none.
    """
    found = _CONTENT.match(base, 16)
    if found is None:
        raise FormatError("these bytes are no frame: they carry no digest of their content")
    return found.group(1).decode("ascii")


def encode_signal(frame: SignalFrame) -> bytes:
    """The frame as bytes.

    Raises:
        ShapeError: values are not one row of numbers.
    """
    if np.ndim(frame.values) != 1:
        raise ShapeError(f"a signal needs one number per token; got {np.shape(frame.values)}")
    scale = scale_of(frame.values)
    header = {
        "base": frame.base,
        "signal": frame.signal,
        "channel": frame.channel,
        "tokens": len(frame.values),
        "scale": scale,
    }
    return pack(MAGIC, VERSION, header, [halves(frame.values, scale)])


def decode_signal(data: bytes) -> SignalFrame:
    """The frame that `encode_signal` wrote, within the precision of f16.

    Raises:
        SchemaError: another version wrote it.
        FormatError: it is no such frame, or is damaged.
    """
    header, body = unpack(data, MAGIC, VERSION)
    try:
        names = [header[name] for name in ("base", "signal", "channel")]
        n_tokens, scale = natural(header["tokens"]), scale_in(header["scale"])
        if not all(isinstance(name, str) for name in names):
            raise ValueError("a name is no text")
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the header of the HARASIGN frame is damaged ({error!r})") from error
    if len(body) != pad4(2 * n_tokens):
        raise FormatError(f"the HARASIGN frame has {len(body)} bytes for {n_tokens} tokens")
    values = np.frombuffer(body, "<f2", n_tokens).astype(np.float64) * scale
    return SignalFrame(base=names[0], signal=names[1], channel=names[2], values=values)
