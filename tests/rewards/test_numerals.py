"""Numbers are read exactly, as fractions, however they are written."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.rewards.numerals import numerals, read_numeral


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("-3", -3),
        ("−3", -3),
        ("+7", 7),
        ("033", 33),
        ("1,234,567.5", Fraction(2469135, 2)),
        ("1{,}000", 1000),
        ("1\\,000", 1000),
        ("1\u202f000", 1000),
        (".5", Fraction(1, 2)),
        ("$1,234", 1234),
        ("$42$", 42),
        ("-$5", -5),
        ("€7.25", Fraction(29, 4)),
        ("50%", Fraction(1, 2)),
        (r"50\%", Fraction(1, 2)),
        ("12.5 percent", Fraction(1, 8)),
        ("1/2", Fraction(1, 2)),
        ("-1/3", Fraction(-1, 3)),
        (r"\frac{1}{2}", Fraction(1, 2)),
        (r"-\frac12", Fraction(-1, 2)),
        (r"\dfrac{-9}{7}", Fraction(-9, 7)),
        (r"2\frac{1}{2}", Fraction(5, 2)),
        ("2 1/2", Fraction(5, 2)),
        ("1e-3", Fraction(1, 1000)),
        (r"3 \times 10^{4}", 30000),
        ("0.1", Fraction(1, 10)),
    ],
)
def test_one_number(text: str, value: Fraction | int) -> None:
    found = read_numeral(text)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "5 m",
        "3-5",
        "1/0",
        r"\frac{1}{0}",
        "1e99999999",
        "9" * 2000,
        "1.2.3",
        "10^5",
        "--1",
    ],
)
def test_what_is_no_number(text: str) -> None:
    assert read_numeral(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("10-3", ["10", "3"]),
        ("5 - 3 = 2", ["5", "3", "2"]),
        ("so x = - 3.", ["- 3"]),
        ("pages 3–5", ["3", "5"]),
        ("wait...42", ["42"]),
        ("XDY2K and 42m", ["42"]),
        ("$1,200. Then 7.", ["1,200", "7"]),
        ("3.14 is not 3.", ["3.14", "3"]),
        ("1,2,3", ["1", "2", "3"]),
        ("costs 5% of 80", ["5%", "80"]),
    ],
)
def test_numbers_in_a_text(text: str, found: list[str]) -> None:
    assert [text[n.span.start : n.span.end] for n in numerals(text)] == found


@given(st.integers(), st.sampled_from(["-", "−"]))
def test_integers_with_thousands_round_trip(number: int, minus: str) -> None:
    written = f"{number:,}".replace("-", minus)
    found = read_numeral(written)
    assert found is not None
    assert found.value == number


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_decimals_round_trip_exactly(number: object) -> None:
    found = read_numeral(f"{number:f}")
    assert found is not None
    assert found.value == Fraction(f"{number}")


@given(st.fractions(), st.sampled_from(["{0}/{1}", r"\frac{{{0}}}{{{1}}}"]))
def test_fractions_round_trip(number: Fraction, form: str) -> None:
    found = read_numeral(form.format(number.numerator, number.denominator))
    assert found is not None
    assert found.value == number


@given(st.text(alphabet="0123456789.,/-+−%$ \\{}frac^*eE×=x", max_size=60))
def test_spans_are_inside_and_ordered(text: str) -> None:
    position = 0
    for numeral in numerals(text):
        assert position <= numeral.span.start < numeral.span.end <= len(text)
        position = numeral.span.end


@pytest.mark.parametrize("piece", ["9", "1,", "-", "1/", "\\frac{", "1e", " 1", "$", "1 1/1 "])
def test_hostile_lengths_cost_little(piece: str) -> None:
    began = time.perf_counter()
    list(numerals(piece * (40_000 // len(piece))))
    assert time.perf_counter() - began < 5
