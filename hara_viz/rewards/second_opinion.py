r"""A second opinion on whether an answer equals the reference, to doubt math-verify with.

math-verify rounds to six decimals, so it takes `1/2^{99}` for `1/2^{98}`; from running text it may
read too little of an answer. This module shares no code with it and says "equal", "different" or,
whenever in doubt, nothing. It never changes a verdict; it makes people look.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from hara_viz.rewards.arithmetic import (
    CONTEXT,
    NotUnderstoodError,
    evaluate,
    tokens_of,
    variables_of,
)
from hara_viz.rewards.number import compare_numerals
from hara_viz.rewards.numerals import Numeral, read_numeral

# With 60 digits of work, what agrees to 40 is equal for any formula a model writes.
CLOSE = Decimal("1e-40")
# Roots of primes: no polynomial with small integer coefficients vanishes here by chance.
_POINTS = (Decimal(2).sqrt(CONTEXT), Decimal(3).sqrt(CONTEXT), Decimal(7).sqrt(CONTEXT))
_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf|operatorname)\s*\{([^{}]*)\}")


def equal_value(gold: str, answer: str) -> bool | None:
    """True: equal. False: different. None: this module cannot tell."""
    left, right = read_numeral(gold), read_numeral(answer)
    if left is not None and right is not None:
        return _equal_numerals(left, right, answer)
    if _words(gold) == _words(answer):
        return True
    try:
        return _equal_formulas(gold, answer)
    except (NotUnderstoodError, ArithmeticError):
        return None


def _words(text: str) -> str:
    bare = _TEXT.sub(r"\1", text)
    bare = re.sub(r"\\(?:left|right|[,;:! ])|[\s$]", "", bare).casefold()
    return bare[1:-1] if re.fullmatch(r"\([a-j]\)", bare) else bare


def _equal_numerals(gold: Numeral, answer: Numeral, written: str) -> bool | None:
    if compare_numerals(gold, answer)[0]:
        return True
    return None if _is_rounding(gold.value, written) else False


def _is_rounding(exact: Fraction, written: str) -> bool:
    """A decimal that is the reference rounded or cut: people differ on whether that counts."""
    match = re.fullmatch(r"[^\d.]*\d*\.(\d+)\D*", written.strip())
    numeral = read_numeral(written)
    if match is None or numeral is None:
        return False
    unit = Fraction(1, 10 ** len(match[1]))
    missing = abs(exact) - abs(numeral.value)
    return abs(numeral.value - exact) <= unit / 2 or (
        numeral.value * exact > 0 and 0 <= missing < unit
    )


def _equal_formulas(gold: str, answer: str) -> bool | None:
    left, right = gold.split("="), answer.split("=")
    solved = [len(sides) == 2 and len(sides[0].strip()) == 1 for sides in (left, right)]
    if len(left) == len(right) == 2 and not all(solved):
        return _equal_equations(left, right)
    if any(len(sides) > 1 and not one for sides, one in zip((left, right), solved, strict=True)):
        return None  # an equation against a value
    if all(solved) and left[0].strip() != right[0].strip():
        return None  # x = 5 against y = 5
    tokens, others = tokens_of(left[-1]), tokens_of(right[-1])
    names = variables_of(tokens) | variables_of(others)
    agreed = False
    for point in _points(names):
        try:
            value, other = evaluate(tokens, point), evaluate(others, point)
        except ArithmeticError:
            continue  # not defined here, as a root of a negative number
        if not _close(value, other):
            return _different(names, value, answer)
        agreed = True
    return True if agreed else None


def _different(names: frozenset[str], gold_value: Decimal, answer: str) -> bool | None:
    if "i" in names:
        return None  # if i is the imaginary unit, i² = −1 is not seen here
    if not names and _is_rounding(Fraction(gold_value), answer):
        return None
    return False


def _equal_equations(left: Sequence[str], right: Sequence[str]) -> bool | None:
    """Linear equations agree if their coefficients do, up to one factor."""
    sides = [tokens_of(side) for side in (*left, *right)]
    names = frozenset().union(*(variables_of(side) for side in sides))

    def difference(pair: int, values: Mapping[str, Decimal]) -> Decimal:
        with decimal.localcontext(CONTEXT):
            return evaluate(sides[2 * pair], values) - evaluate(sides[2 * pair + 1], values)

    ordered = sorted(names)
    origin = dict.fromkeys(ordered, Decimal(0))
    elsewhere = next(_points(names))
    rows: list[list[Decimal]] = []
    for pair in (0, 1):
        constant = difference(pair, origin)
        units = ({**origin, name: Decimal(1)} for name in ordered)
        with decimal.localcontext(CONTEXT):
            slopes = [difference(pair, unit) - constant for unit in units]
            terms = zip(slopes, ordered, strict=True)
            predicted = constant + sum(slope * elsewhere[name] for slope, name in terms)
        if not _close(predicted, difference(pair, elsewhere)):
            return None  # not linear
        rows.append([constant, *slopes])
    return _proportional(*rows)


def _proportional(row: Sequence[Decimal], other: Sequence[Decimal]) -> bool | None:
    if not any(row) or not any(other):
        return None
    pivot = max(range(len(row)), key=lambda index: abs(row[index]))
    with decimal.localcontext(CONTEXT):
        return all(
            _close(value * other[pivot], other_value * row[pivot])
            for value, other_value in zip(row, other, strict=True)
        )


def _points(names: frozenset[str]) -> Iterator[dict[str, Decimal]]:
    ordered = sorted(names)
    with decimal.localcontext(CONTEXT):
        for scale in (Decimal(1), Decimal("-0.7"), Decimal("0.31")):
            yield {name: scale * (_POINTS[index % 3] + index) for index, name in enumerate(ordered)}
            if not ordered:
                return


def _close(value: Decimal, other: Decimal) -> bool:
    with decimal.localcontext(CONTEXT):
        size = max(abs(value), abs(other))
        return abs(value - other) <= CLOSE * size if size > 1 else abs(value - other) <= CLOSE
