r"""A small calculator for LaTeX and plain formulas, independent of any symbolic library.

Reads + − × ÷ /, powers, `\frac`, `\sqrt[n]{…}`, brackets, implicit products, `\pi`, e and variables
of one letter, and evaluates them with 60 decimal digits at given values of the variables. It exists
to doubt a verifier, so whatever it does not fully understand is an error, never a guess.

Numbers are `decimal.Decimal` under a context of our own: exponents overflow instead of filling the
memory, and `2^{2^{99}}` costs nothing.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Mapping
from decimal import Decimal

MAX_TOKENS = 400
CONTEXT = decimal.Context(
    prec=60,
    Emax=10**6,
    Emin=-(10**6),
    traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_DIGIT_GROUPS = re.compile(r"(?<=\d)(?:\{,\}|\\?,|\\!)(?=\d{3}(?!\d))")
_IGNORED = re.compile(
    r"\\(?:left|right|displaystyle|[,;:! ])|\^\s*\{?\s*\\circ\s*\}?"
    r"|\\(?:text|mathrm|textbf)\s*\{[A-Za-z .²³]*\}\s*$"  # a unit at the end
)
# Names of functions written out: as products of letters they would be misread.
_WORD = re.compile(r"(?<![A-Za-z\\])(?!sqrt\b)(?:[A-Za-z]{3,}|ln\b)")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?|\.\d+)|(?P<command>\\[A-Za-z]+)|(?P<root>sqrt)\b"
    r"|(?P<pi>pi\b|π)|(?P<letter>[A-Za-z])|(?P<sign>[-+*/^()\[\]{}×÷·−]))"
)
_SAME = {"×": "*", "·": "*", r"\cdot": "*", r"\times": "*", "÷": "/", r"\div": "/", "−": "-"}
_FRACTIONS = {r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"}
_EULER = re.compile(r"\\(?:mathrm|text)\s*\{\s*e\s*\}")


class NotUnderstoodError(ValueError):
    """The formula holds something that this calculator does not know."""


def tokens_of(formula: str) -> tuple[str, ...]:
    """The formula's tokens.

    Raises:
        NotUnderstoodError: a sign is unknown, or there are too many.
    """
    formula = _DIGIT_GROUPS.sub("", _EULER.sub(" e ", formula.strip().strip("$")))
    formula = _IGNORED.sub(" ", formula).rstrip()
    if word := _WORD.search(formula):
        raise NotUnderstoodError(word[0])
    tokens: list[str] = []
    position = 0
    while position < len(formula):
        match = _TOKEN.match(formula, position)
        if match is None or len(tokens) >= MAX_TOKENS:
            raise NotUnderstoodError(formula[position : position + 20])
        token = match[0].strip()
        if match["root"]:
            token = r"\sqrt"
        elif match["pi"]:
            token = r"\pi"
        tokens.append(_SAME.get(token, token))
        position = match.end()
    if not tokens:
        raise NotUnderstoodError("nothing")
    return tuple(tokens)


def variables_of(tokens: tuple[str, ...]) -> frozenset[str]:
    """The one-letter variables; e is Euler's number."""
    return frozenset(token for token in tokens if len(token) == 1 and token.isalpha()) - {"e"}


def evaluate(tokens: tuple[str, ...], values: Mapping[str, Decimal]) -> Decimal:
    """The formula's value.

    Raises:
        NotUnderstoodError: the tokens form no formula.
        ArithmeticError: it has no real value here, or one out of all bounds.
    """
    with decimal.localcontext(CONTEXT):
        reader = _Reader(tokens, values)
        try:
            value = reader.sum()
        except RecursionError as error:
            raise NotUnderstoodError("too deep") from error
        if reader.position != len(tokens):
            raise NotUnderstoodError(tokens[reader.position])
        return value


def is_formula(text: str) -> bool:
    """Whether the calculator understands the text, whatever its value."""
    try:
        tokens = tokens_of(text)
        evaluate(tokens, dict.fromkeys(variables_of(tokens), Decimal(2)))
    except NotUnderstoodError:
        return False
    except ArithmeticError:
        return True
    return True


class _Reader:
    """Recursive descent that evaluates as it reads; one use."""

    def __init__(self, tokens: tuple[str, ...], values: Mapping[str, Decimal]) -> None:
        self.tokens = tokens
        self.values = values
        self.position = 0

    @property
    def next(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.next
        if not token or (expected and token != expected):
            raise NotUnderstoodError(f"{token or 'the end'} instead of {expected or 'a term'}")
        self.position += 1
        return token

    def sum(self) -> Decimal:
        value = self.product()
        while self.next in {"+", "-"}:
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> Decimal:
        value = self.signed()
        while self.next and self.next not in {"+", "-", ")", "]", "}"}:
            if self.next == "/":
                self.take()
                value = value / self.signed()
            else:
                if self.next == "*":
                    self.take()
                else:
                    self.refuse_mixed_number()
                value = value * self.signed()
        return value

    def refuse_mixed_number(self) -> None:
        r"""`2 1/2` and `2\frac{1}{2}` may be sums or products."""
        before = self.tokens[self.position - 1]
        if before[-1].isdigit() and (self.next[0].isdigit() or self.next in _FRACTIONS):
            raise NotUnderstoodError(f"{before} {self.next}")

    def signed(self) -> Decimal:
        if self.next in {"+", "-"}:
            return -self.signed() if self.take() == "-" else self.signed()
        return self.power()

    def power(self) -> Decimal:
        base = self.atom()
        if self.next != "^":
            return base
        self.take()
        exponent = self.group() if self.next == "{" else self.signed()
        return base**exponent

    def group(self) -> Decimal:
        """The argument of a command: braces, or the next digit or letter."""
        if self.next != "{":
            return self.single()
        self.take("{")
        value = self.sum()
        self.take("}")
        return value

    def single(self) -> Decimal:
        r"""In LaTeX `\frac12` the arguments are single digits: the number token is split."""
        token = self.next
        if token.isdigit() and len(token) > 1:
            rest = (token[0], token[1:])
            self.tokens = (*self.tokens[: self.position], *rest, *self.tokens[self.position + 1 :])
        return self.atom()

    def atom(self) -> Decimal:
        token = self.take()
        if token[0].isdigit() or token[0] == ".":
            return Decimal(token)
        if token in {"(", "{", "["}:
            value = self.sum()
            self.take({"(": ")", "{": "}", "[": "]"}[token])
            return value
        if token in _FRACTIONS:
            top = self.group()
            return top / self.group()
        if token == r"\sqrt":
            return self.root()
        if token == r"\pi":
            return PI
        if token == "e":
            return Decimal(1).exp()
        if token in self.values:
            return self.values[token]
        raise NotUnderstoodError(token)

    def root(self) -> Decimal:
        if self.next != "[":
            return (self.group() if self.next == "{" else self.atom()).sqrt()
        self.take("[")
        degree = self.sum()
        self.take("]")
        return self.group() ** (1 / degree)
