"""The heatmap's bytes: round trip, size, refusals, and a group as it becomes a frame."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hara_viz.analysis.signals import CHANNELS, SIGNALS, Offer, Signal, Term, channels_of
from hara_viz.components.token_heatmap import (
    Frame,
    FrameRow,
    Kind,
    decode,
    encode,
    frame_of,
    signal_values,
)
from hara_viz.components.token_heatmap.build import available
from hara_viz.errors import FormatError, InvalidInputError, SchemaError, ShapeError
from hara_viz.types import RolloutGroup
from tests.components import groups

KINDS = (
    Kind("a", (5,), False),
    Kind(" 🙂\n", (6, 7, 8), False),
    Kind("‹U+001B›", (9,), False, "1b"),
    Kind("<|e|>", (1,), True),
)


def small_frame() -> Frame:
    cells = np.array([0, 1, 3, 2, 0])
    rows = (
        FrameRow(
            sample=0, n_cells=3, n_tokens=5, reward=1.0, success=True, advantage=0.5, finish="stop",
            reason="match", extracted="42", answer=(0, 2), think=((0, 1),), steps=(0, 4),
        ),
        FrameRow(sample=3, n_cells=2, n_tokens=2),
    )  # fmt: skip
    values = np.array([0.0, 0.5, np.nan, 1e-6, -3.25, np.inf, 2.0])
    channels = {"feature": np.abs(values), "structure": np.zeros(7), "weight": 1 + values / 8}
    return Frame(
        rows=rows,
        kinds=KINDS,
        cells=cells,
        channels=channels,
        signals=available(set(channels)),
        offers=(
            Offer(Signal("shear", "SHEAR", "A rival.", False, (Term(1, "shear"),))),
            Offer(
                Signal("gap", "Gap", "Two.", True, (Term(1, "x"), Term(-1, "weight", True))), "no"
            ),
        ),
    )


@pytest.fixture(scope="module")
def group() -> RolloutGroup:
    return groups.small_group()


@pytest.fixture(scope="module")
def frame(group: RolloutGroup) -> Frame:
    return frame_of(group, groups.credit_for(group), special_ids=[groups.END_ID])


def test_round_trip() -> None:
    frame = small_frame()
    again = decode(encode(frame))
    assert (again.rows, again.kinds, again.offers) == (frame.rows, frame.kinds, frame.offers)
    # Why a signal may be missing is not told of one that is there.
    assert again.signals == tuple(replace(signal, missing="") for signal in frame.signals)
    np.testing.assert_array_equal(again.cells, frame.cells)
    for name, values in frame.channels.items():
        np.testing.assert_allclose(again.channels[name], values, rtol=1e-3, atol=1e-6)


@given(
    st.lists(
        st.floats(width=32, allow_nan=True, allow_infinity=False),
        min_size=1,
        max_size=20,
    )
)
def test_values_survive_to_three_digits_of_the_largest(values: list[float]) -> None:
    n = len(values)
    frame = Frame(
        rows=(FrameRow(sample=0, n_cells=n, n_tokens=n),),
        kinds=(Kind("a", (1,), False),),
        cells=np.zeros(n, int),
        channels={"entropy": np.asarray(values)},
        signals=(),
    )
    largest = np.nanmax(np.abs(values), initial=0.0)
    got = decode(encode(frame)).channels["entropy"]
    np.testing.assert_allclose(got, values, rtol=5e-4, atol=max(1e-7 * largest, 1e-37))


def test_an_empty_completion_and_no_channels() -> None:
    frame = Frame(
        rows=(FrameRow(sample=0, n_cells=0, n_tokens=0),),
        kinds=(),
        cells=np.zeros(0, int),
        channels={},
        signals=(),
    )
    assert decode(encode(frame)).rows == frame.rows


def test_many_kinds_take_wide_indices() -> None:
    kinds = tuple(Kind(str(i), (i,), False) for i in range(70_000))
    n = len(kinds)
    frame = Frame(
        rows=(FrameRow(sample=0, n_cells=n, n_tokens=n),),
        kinds=kinds,
        cells=np.arange(n)[::-1].copy(),
        channels={},
        signals=(),
    )
    np.testing.assert_array_equal(decode(encode(frame)).cells, frame.cells)


def test_thirteen_bytes_a_token() -> None:
    """16 rollouts of 16,384 tokens, 6,000 kinds, five channels."""
    rng = np.random.default_rng(0)
    n = 16 * 16_384
    kinds = tuple(Kind(f" word{i}"[: 3 + i % 7], (1000 + i,), False) for i in range(6_000))
    names = ("feature", "structure", "weight", "logprob", "entropy")
    frame = Frame(
        rows=tuple(
            FrameRow(sample=i, n_cells=16_384, n_tokens=16_384, steps=tuple(range(0, 16_384, 20)))
            for i in range(16)
        ),
        kinds=kinds,
        cells=rng.integers(0, len(kinds), n),
        channels={name: rng.random(n) for name in names},
        signals=available(set(names)),
    )
    assert len(encode(frame)) / n < 13


def test_equal_frames_give_equal_bytes_and_content_follows_them() -> None:
    first, second = encode(small_frame()), encode(small_frame())
    assert first == second
    other = replace(small_frame(), rows=tuple(replace(r, sample=9) for r in small_frame().rows))
    assert encode(other) != first


def test_what_does_not_fit_is_refused() -> None:
    frame = small_frame()
    row = frame.rows[0]
    wrong = [
        replace(frame, cells=frame.cells[:-1]),
        replace(frame, cells=np.array([0, 1, 3, 2, 4])),
        replace(frame, rows=(replace(row, n_tokens=4), frame.rows[1])),
        replace(frame, rows=(replace(row, answer=(2, 4)), frame.rows[1])),
        replace(frame, rows=(replace(row, steps=(0, 5)), frame.rows[1])),
        replace(frame, rows=(replace(row, steps=(1, 2)), frame.rows[1])),
        replace(frame, channels={"feature": np.zeros(3)}, signals=()),
        replace(frame, channels={}),
        replace(frame, kinds=(*KINDS[:3], Kind("x", (), True))),
    ]
    for damaged in wrong:
        with pytest.raises(ShapeError):
            encode(damaged)
    with pytest.raises(InvalidInputError, match="None for unknown"):
        encode(replace(frame, rows=(replace(row, reward=float("nan")), frame.rows[1])))


def test_another_version_is_named() -> None:
    data = bytearray(encode(small_frame()))
    data[8] = 3
    with pytest.raises(SchemaError, match="version 3"):
        decode(bytes(data))


@settings(max_examples=300)
@given(st.data())
def test_damaged_bytes_end_in_a_sentence(data: st.DataObject) -> None:
    whole = bytearray(encode(small_frame()))
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = data.draw(
        st.sampled_from(
            [
                bytes(whole[:at]),
                bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :]),
                bytes(whole) + b"\0\0\0\0",
                bytes(whole[:16]) + random.Random(at).randbytes(at),
            ]
        )
    )
    with pytest.raises(FormatError, match=r"HARAHEAT|frame: they do not"):
        decode(damaged)


@given(st.binary(max_size=80))
def test_any_bytes_after_the_magic_are_refused(rest: bytes) -> None:
    with pytest.raises(FormatError):
        decode(b"HARAHEAT" + rest)


def test_signals_are_what_their_names_say(group: RolloutGroup, frame: Frame) -> None:
    credit = groups.credit_for(group)
    scored = np.repeat(
        [r.reward is not None for r in group.rollouts],
        [len(r.completion_ids) for r in group.rollouts],
    )
    lengths = [len(r.completion_ids) for r in group.rollouts]
    before = np.repeat(credit.baseline.double().numpy(), lengths)
    weights = credit.weights.double().numpy()
    expected = {
        "novelty": np.where(scored, credit.novelty.double().numpy(), np.nan),
        "feature": np.where(scored, credit.novelty_feature.double().numpy(), np.nan),
        "weight": weights - 1,
        "advantage": credit.advantages.double().numpy(),
        "before": before,
        "shift": (weights - 1) * before,
        "surprisal": -np.concatenate([r.logprobs for r in group.rollouts]),
        "entropy": np.concatenate([r.entropy for r in group.rollouts]),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(signal_values(frame, name), values, rtol=1e-5, atol=1e-6)
    assert "recorded" not in {signal.name for signal in frame.signals}
    with pytest.raises(InvalidInputError, match="no signal 'recorded'"):
        signal_values(frame, "recorded")


def test_channels_of_all_signals_are_known() -> None:
    assert {channel for signal in SIGNALS.values() for channel in channels_of(signal)} == set(
        CHANNELS
    )


def test_what_the_policy_did_not_sample_is_unknown(group: RolloutGroup) -> None:
    first = group.rollouts[0]
    mask = tuple(i % 5 > 0 for i in range(len(first.completion_ids)))
    masked = RolloutGroup((replace(first, sampled_mask=mask), *group.rollouts[1:]))
    frame = frame_of(masked, groups.credit_for(group))
    for name in ("novelty", "weight", "advantage"):
        shown = signal_values(frame, name)[: len(mask)]
        np.testing.assert_array_equal(np.isnan(shown), ~np.asarray(mask))


def test_rows_say_what_is_known(group: RolloutGroup, frame: Frame) -> None:
    right, wrong, cut, hostile, unscored = frame.rows[:5]
    assert [right.success, wrong.success, unscored.success] == [True, False, None]
    assert right.extracted == "3" and cut.finish == "length"
    texts = [frame.kinds[k].text for k in frame.cells[: right.n_cells]]
    assert right.answer is not None and "".join(texts[slice(*right.answer)]) == "3"
    first, last = right.think[0]
    assert "".join(texts[first:last]).startswith("<think>")
    assert texts[-1] == groups.END and frame.kinds[frame.cells[right.n_cells - 1]].special
    shown = "".join(kind.text for kind in frame.kinds)
    assert "\x1b" not in shown and "\u202e" not in shown
    assert "201b" in {kind.raw for kind in frame.kinds}  # a space and the escape itself
    assert hostile.answer is None
    assert right.steps[0] == 0 and len(right.steps) > 5


def test_text_without_cells_is_one_cell(group: RolloutGroup) -> None:
    bare = replace(group.rollouts[1], cell_start=None, reasoning_step=None)
    alone = RolloutGroup((bare,))
    credit = groups.credit_for(alone)
    frame = frame_of(alone, credit, special_ids=[groups.END_ID])
    assert frame.rows[0].n_cells == 1
    assert frame.kinds[0].ids == bare.completion_ids
    assert frame.rows[0].steps == ()


def test_credit_of_another_group_is_refused(group: RolloutGroup) -> None:
    credit = groups.credit_for(RolloutGroup(group.rollouts[:2]))
    with pytest.raises(ShapeError, match="does not fit"):
        frame_of(group, credit)
