"""Hostile text stays text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.text.terminal import inert, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", "a⏎b⇥c"),
        ("\x1b[31mred\x1b[0m", "‹U+001B›[31mred‹U+001B›[0m"),
        ("\x1b]0;title\x07", "‹U+001B›]0;title‹U+0007›"),
        ("\x9b31m", "‹U+009B›31m"),
        ("over\u202ewritten", "over‹U+202E›written"),
        ("iso\u2066late\u2069", "iso‹U+2066›late‹U+2069›"),
        ("zero\u200bwidth\ufeff", "zero‹U+200B›width‹U+FEFF›"),
        ("line\u2028sep\u0085", "line‹U+2028›sep‹U+0085›"),
        ("half\ud83d", "half‹U+D83D›"),
        ("hidden\U000e0041", "hidden‹U+E0041›"),
        ("\r\x00\x7f", "‹U+000D›‹U+0000›‹U+007F›"),
        ("👩‍👧 é ไทย שלום", "👩‍👧 é ไทย שלום"),
    ],
)
def test_plain(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text())
def test_nothing_that_acts_is_left(text: str) -> None:
    shown = plain(text)
    for char in shown:
        assert unicodedata.category(char) not in {"Cc", "Cs", "Zl", "Zp"}
        assert unicodedata.category(char) != "Cf" or char in "\u200c\u200d"
    shown.encode("utf-8")
    assert plain(shown) == shown
    assert inert(text).replace("\n", "⏎").replace("\t", "⇥") == shown
