r"""Numbers as people and models write them, read exactly as fractions.

Thousands commas, decimals, `1/2`, `\frac{1}{2}`, mixed numbers, powers of ten, percent, unicode
minus. Nothing is rounded. Numerals of absurd size are no numbers: reading them must cost nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from hara_viz.text.spans import Span

MAX_DIGITS = 1000
MAX_EXPONENT = 1000

_SPACE = r"[\u00a0\u2009\u202f]"  # no-break and thin spaces between thousands
_MINUS = "-\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"
_GROUPED = rf"\d{{1,3}}(?:(?:,|\\,|\{{,\}}|{_SPACE})\d{{3}})+(?!\d)(?:\.\d+)?"
_UNSIGNED = rf"(?:{_GROUPED}|\d+(?:\.\d+)?|(?<!\.)\.\d+)"
_NUMERAL = re.compile(
    rf"""
    (?<![\w\\])(?<!\d\.)                                     # not inside a word or a number
    (?P<sign>(?:(?<=[=:(][ ])[{_MINUS}][ ]|(?<![\w)\]}}%])[{_MINUS}+])(?:\\?[$€£¥₹])?)?
    (?:
        (?P<whole>\d{{1,30}}[ ]?)?\\[dtc]?frac[ ]?
        (?:\{{(?P<ltop>[{_MINUS}]?{_UNSIGNED})\}}|(?P<ltop1>\d))[ ]?
        (?:\{{(?P<lbottom>{_UNSIGNED})\}}|(?P<lbottom1>\d))
      |
        (?:(?P<mixed>\d{{1,30}})[ ](?=\d+/\d))?
        (?P<number>{_UNSIGNED})
        (?:
            [ ]?/[ ]?(?P<bottom>{_UNSIGNED})(?![\d/])
          | [eE](?P<exponent>[{_MINUS}+]?\d+)(?![\w])
          | [ ]?(?:×|\\times|\*)[ ]?10\^(?:\{{(?P<power>[{_MINUS}]?\d+)\}}|(?P<power1>\d+))
        )?
    )
    (?P<percent>[ ]?(?:\\?%|percent\b|per[ ]cent\b))?
    """,
    re.VERBOSE,
)
_BLANK_OR_CURRENCY = re.compile(r"\s*(?:\\?[$€£¥₹]\s?)?")


class Numeral(NamedTuple):
    """A number in a text."""

    face: Fraction
    """As written: 50 for "50%"."""
    percent: bool
    span: Span

    @property
    def value(self) -> Fraction:
        """What it means: 1/2 for "50%"."""
        return self.face / 100 if self.percent else self.face


def numerals(text: str) -> Iterator[Numeral]:
    """All numbers of a text, in order."""
    for match in _NUMERAL.finditer(text):
        face = _face(match)
        if face is not None:
            yield Numeral(face, match["percent"] is not None, Span(*match.span()))


def read_numeral(text: str) -> Numeral | None:
    """The number that the whole text is; None if it is anything else."""
    leading = _BLANK_OR_CURRENCY.match(text)
    start = 0 if leading is None else leading.end()
    end = len(text.rstrip("$ \t\r\n"))
    match = _NUMERAL.fullmatch(text, start, end)
    face = None if match is None else _face(match)
    if match is None or face is None:
        return None
    return Numeral(face, match["percent"] is not None, Span(start, end))


def _face(match: re.Match[str]) -> Fraction | None:
    if match.end() - match.start() > MAX_DIGITS:
        return None
    part = match.groupdict()
    try:
        if part["ltop"] or part["ltop1"]:
            top, bottom = part["ltop"] or part["ltop1"], part["lbottom"] or part["lbottom1"]
            size = _decimal(part["whole"]) + _decimal(top) / _decimal(bottom)
        else:
            size = _decimal(part["number"])
            if part["bottom"]:
                size /= _decimal(part["bottom"])
            size = _decimal(part["mixed"]) + size * _power_of_ten(part)
    except (ZeroDivisionError, OverflowError):
        return None
    return -size if part["sign"] and part["sign"][0] in _MINUS else size


def _decimal(numeral: str | None) -> Fraction:
    if numeral is None:
        return Fraction(0)
    negative = numeral[0] in _MINUS
    digits = re.sub(r"[^\d.]", "", numeral)
    return Fraction(f"-{digits}" if negative else digits)


def _power_of_ten(part: dict[str, str | None]) -> Fraction:
    written = part["exponent"] or part["power"] or part["power1"]
    if written is None:
        return Fraction(1)
    exponent = _decimal(written)
    if abs(exponent) > MAX_EXPONENT:
        raise OverflowError
    return Fraction(10) ** int(exponent)
