"""The bytes of a further signal: round trip, refusals, and the base frame that they name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.components.token_heatmap import (
    SignalFrame,
    content_of,
    decode_signal,
    encode,
    encode_signal,
    frame_of,
)
from hara_viz.errors import FormatError, SchemaError, ShapeError
from tests.components import groups

VALUES = np.array([0.5, np.nan, -3.0, 1e-9, np.inf])


def frame(values: np.ndarray = VALUES) -> SignalFrame:
    return SignalFrame(base="0" * 16, signal="shear", channel="shear", values=values)


def test_round_trip() -> None:
    again = decode_signal(encode_signal(frame()))
    assert (again.base, again.signal, again.channel) == ("0" * 16, "shear", "shear")
    np.testing.assert_allclose(again.values, VALUES, rtol=1e-3, atol=1e-8)


def test_two_bytes_a_token() -> None:
    rng = np.random.default_rng(0)
    n = 16 * 16_384
    assert len(encode_signal(frame(rng.random(n)))) < 2 * n + 300


def test_the_content_of_a_base_frame_tells_frames_apart() -> None:
    group = groups.small_group()
    credit = groups.credit_for(group)
    first = encode(frame_of(group, credit))
    second = encode(frame_of(group, credit, special_ids=[groups.END_ID]))
    assert content_of(first) == content_of(bytes(first)) != content_of(second)
    with pytest.raises(FormatError, match="no digest"):
        content_of(b"HARAHEAT")


def test_refusals() -> None:
    data = encode_signal(frame())
    with pytest.raises(SchemaError):
        decode_signal(data[:8] + b"\x02" + data[9:])
    with pytest.raises(ShapeError):
        encode_signal(frame(np.zeros((2, 2))))


@given(st.data())
def test_damaged_bytes_end_in_a_sentence(data: st.DataObject) -> None:
    whole = encode_signal(frame())
    at = data.draw(st.integers(0, len(whole) - 1))
    flipped = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    for damaged in (whole[:at], flipped, whole + b"\0\0\0\0"):
        with pytest.raises(FormatError):
            decode_signal(damaged)
