from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.ui.words import count, inert, number, one_line, percent, signed


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (math.nan, "–"),
        (1.0, "1"),
        (0, "0"),
        (-0.0, "0"),
        (0.5, "0.500"),
        (-1.25, "−1.250"),
        (0.00012345, "0.000123"),
        (math.inf, "inf"),
        (123456789.0, "123456789"),
        (-1.25e307, "−1.25e+307"),
        (10**12, "1000000000000"),
    ],
)
def test_numbers_read_well(value: float | None, shown: str) -> None:
    assert number(value) == shown


def test_signs_shares_and_counts() -> None:
    assert signed(0.25) == "+0.250"
    assert signed(-0.25) == "−0.250"
    assert signed(0.0) == "0"
    assert percent(0.125) == "12 %"
    assert percent(None) == "–"
    assert count(1, "rollout") == "1 rollout"
    assert count(0, "rollout") == "0 rollouts"


def test_inert_escapes_every_markup_character() -> None:
    shown = inert("<b>*x*</b> $a$ [l](u) :red[x] `c`\n# h")
    assert "\n" not in shown
    for character in "<>*$[]()`#":
        assert all(shown[i - 1] == "\\" for i, c in enumerate(shown) if c == character)
    assert ":red" not in shown.replace("\u2060", " ")


@given(st.text(max_size=400))
def test_inert_is_one_short_line_without_bare_markup(text: str) -> None:
    shown = inert(text, limit=50)
    literal = shown.replace("\\", "").replace("\u2060", "")
    assert len(literal) <= 50
    assert not any(character in shown for character in "\n\r\x1b\u202e")


@given(st.text())
def test_one_line_has_no_line_breaks_and_keeps_the_limit(text: str) -> None:
    shown = one_line(text, limit=20)
    assert len(shown) <= 20
    assert len(shown.splitlines()) <= 1
