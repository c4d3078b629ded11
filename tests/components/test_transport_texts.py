"""Frames of barycenters as text and of two rollouts: round trips, damage, the browser's readers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hara_viz.analysis.composition import compose
from hara_viz.components import barycenter_text, rollout_pair
from hara_viz.components.barycenter_text import AtomText, BarycenterFrame, Link, Quote, Side
from hara_viz.components.rollout_pair import PairFrame, pair_side
from hara_viz.components.shared.cells import ShownCell
from hara_viz.errors import FormatError, InvalidInputError, SchemaError, ShapeError
from tests.components.test_canvas_frames import HOSTILE_CELLS, read_by_node

HOSTILE = Quote(3, 7, "</div>", "<script>alert(1)</script>", "\u202e\x1b[31m")


def barycenters() -> BarycenterFrame:
    first = AtomText(1, 0.25, 1.0, 0.1, 0.5, (HOSTILE, Quote(0, 0, "", "家", "")))
    second = AtomText(0, 0.5, 0.98, 0.0, 1.0, ())
    right = Side(success=True, n_rollouts=2, atoms=(first, second), closest=(3, "a <b>text</b>"))
    wrong = Side(success=False, n_rollouts=1, atoms=(first,))
    return BarycenterFrame(sides=(right, wrong), links=(Link(0, 0, 1.0, 0.5), Link(1, 0, 1.0, 0.1)))


def pair() -> PairFrame:
    rng = np.random.default_rng(0)
    shares = rng.random((5, 3)) ** 3
    composed = compose(shares, rng.random((2, 3)))
    own = np.array([True, True, False, True, True, True])
    return PairFrame(
        first=pair_side(
            sample=4, success=True, cells=HOSTILE_CELLS, own=own, shares=composed.first,
            gaps=rng.random(5),
        ),
        second=pair_side(
            sample=9, success=None, cells=(ShownCell("<i>", 2, False),), own=np.ones(2, bool),
            shares=composed.second, gaps=rng.random(2),
        ),
    )  # fmt: skip


def test_barycenters_survive_the_way() -> None:
    frame = barycenters()
    again = barycenter_text.decode(barycenter_text.encode(frame))
    assert again.links == frame.links
    assert again.sides[1].atoms[0].quotes[1] == Quote(0, 0, "", "家", "")
    quote = again.sides[0].atoms[0].quotes[0]
    assert quote.inside == "<script>alert(1)</script>"
    assert not set(quote.after) & set("\u202e\x1b"), "nothing that acts unseen reaches a browser"
    assert again.sides[0].closest == (3, "a <b>text</b>")


def test_a_pair_survives_the_way() -> None:
    frame = pair()
    again = rollout_pair.decode(rollout_pair.encode(frame))
    for side, got in ((frame.first, again.first), (frame.second, again.second)):
        assert (got.sample, got.success, got.cells) == (side.sample, side.success, side.cells)
        np.testing.assert_allclose(got.shares, side.shares, atol=1e-5)
        np.testing.assert_allclose(got.gaps, side.gaps, rtol=1e-6)
        np.testing.assert_array_equal(got.own, side.own)


@pytest.mark.parametrize(
    ("component", "make"), [(barycenter_text, barycenters), (rollout_pair, pair)]
)
def test_damage_is_told_apart_from_a_frame(component, make) -> None:
    good = component.encode(make())
    with pytest.raises(FormatError):
        component.decode(b"HARAPLAN" + good[8:])
    with pytest.raises(SchemaError):
        component.decode(good[:8] + (9).to_bytes(4, "little") + good[12:])
    for place in (20, len(good) // 2, len(good) - 1):
        hurt = bytearray(good)
        hurt[place] ^= 1
        with pytest.raises(FormatError):
            component.decode(bytes(hurt))
    for length in (0, 15, 60, len(good) - 4):
        with pytest.raises(FormatError):
            component.decode(good[:length])


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="link"):
        barycenter_text.encode(replace(barycenters(), links=(Link(0, 1, 1.0, 0.0),)))
    with pytest.raises(InvalidInputError, match="NaN"):
        barycenter_text.encode(replace(barycenters(), links=(Link(0, 0, 1.0, float("nan")),)))
    with pytest.raises(ShapeError):
        rollout_pair.encode(replace(pair(), second=replace(pair().second, gaps=np.zeros(3))))
    with pytest.raises(ShapeError, match="own tokens"):
        pair_side(
            sample=0, success=True, cells=(), own=np.ones(2, bool), shares=np.ones((3, 2)),
            gaps=np.ones(3),
        )  # fmt: skip


def test_the_browser_reads_the_same_barycenters(tmp_path: Path) -> None:
    data = barycenter_text.encode(barycenters())
    shown = read_by_node(barycenter_text, "parseBarycenters", data, tmp_path)
    assert shown["links"][1] == {"first": 1, "second": 0, "share": 1, "gap": 0.1}
    atom = shown["sides"][0]["atoms"][0]
    assert (atom["name"], atom["location"], atom["coverage"]) == (1, 0.25, 0.5)
    assert atom["quotes"][0]["inside"] == "<script>alert(1)</script>"


def test_the_browser_reads_and_composes_the_same_pair(tmp_path: Path) -> None:
    frame = pair()
    shown = read_by_node(rollout_pair, "parsePair", rollout_pair.encode(frame), tmp_path)
    first, second = shown["sides"]
    assert (first["sample"], second["success"], first["tokens"]) == (4, None, 6)
    assert first["gaps"][2] is None
    shares = np.asarray(second["shares"]).reshape(2, 3)
    np.testing.assert_allclose(shares / 65535, frame.second.shares, atol=1e-5)
    np.testing.assert_allclose(second["received"], shares.sum(0))
