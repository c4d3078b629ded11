r"""Reward `math`: math-verify's verdict, the reference first, with a second opinion beside it.

The reference is wrapped in `\boxed{}` (bare `\dfrac{9}{7}` is not parsed) and the whole completion
is given to math-verify, as trainers do. Its own time limits stay off: they use signals, and the
pool kills a worker that takes too long. Where `second_opinion` disagrees, or the answer was picked
from running text, the reason says so; the verdict itself stays math-verify's.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any, NamedTuple

from hara_viz.errors import FormatError
from hara_viz.rewards.arithmetic import is_formula
from hara_viz.rewards.final_answer import FoundAnswer, find_answer
from hara_viz.rewards.numerals import numerals
from hara_viz.rewards.second_opinion import equal_value
from hara_viz.rewards.verdict import NO_GOLD, Reward, RewardItem, Verdict
from hara_viz.text.spans import Span

MAX_SHOWN = 200
"""Characters of an answer that are kept."""


class _Read(NamedTuple):
    """What math-verify read: parsed expressions, its own spelling, and where the text has it."""

    parsed: list[Any]
    spelling: str
    span: Span | None
    marked: FoundAnswer | None


def load() -> Reward:
    """Import math-verify (about a second) and hand out the reward."""
    for name in ("math_verify", "latex2sympy2_extended"):
        logging.getLogger(name).disabled = True  # they log failed parses, model text included
    # The first use compiles patterns for a second: not on the first completion's time.
    _verify(_parse("$1$"), _parse("answer: $1$"))
    return Reward(judge=judge, read_gold=read_gold)


def judge(item: RewardItem) -> Verdict:
    """1 if math-verify takes the answer for the reference, 0 if not or if there is none."""
    if item.gold is None:
        return NO_GOLD
    gold = _parsed_gold(item.gold)
    if not gold:
        return Verdict(value=None, reason="unscored: the gold answer cannot be read")
    read = _read(item.text)
    if not read.parsed:
        return _nothing_read(item.gold, read)
    equal = _verify(gold, read.parsed)
    second, remark = _doubt(item.gold, read, equal)
    span = read.span
    answer = read.spelling if span is None else item.text[span.start : span.end]
    return Verdict(
        value=float(equal),
        answer=answer[:MAX_SHOWN],
        span=span,
        reason=("match" if equal else "mismatch") + remark,
        parts={} if second is None else {"second_opinion": second},
    )


def read_gold(gold: str) -> str:
    """The reference as math-verify understands it."""
    parsed = _parsed_gold(gold)
    if not parsed:
        raise FormatError(
            f"gold answer {gold[:80]!r} cannot be read as mathematics; correct it in the "
            "problem set or use the reward 'exact'"
        )
    return str(parsed[0])[:MAX_SHOWN]


@lru_cache(maxsize=256)
def _parsed_gold(gold: str) -> list[Any]:
    found = find_answer(gold)
    bare = (gold if found is None else found.text).strip()
    parsed = _parse(f"\\boxed{{{bare}}}") if bare else []
    # Text alone means that it was found but not understood. A sound formula may stay text, as
    # those with \mathrm{e} do: then it is compared letter by letter.
    understood = any(not isinstance(entry, str) for entry in parsed)
    return parsed if understood or is_formula(bare) else []


def _parse(text: str) -> list[Any]:
    from math_verify import parse

    # Errors are raised so that running out of memory is not taken for "no answer".
    try:
        return parse(text, parsing_timeout=None, raise_on_error=True)  # pyright: ignore[reportArgumentType]
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  # any failure of the parser means: nothing was read
        return []


def _verify(gold: list[Any], answer: list[Any]) -> bool:
    from math_verify import verify

    try:
        return verify(gold, answer, timeout_seconds=None, raise_on_error=True)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  # one pair failed: let math-verify try the others
        return verify(gold, answer, timeout_seconds=None)


def _read(text: str) -> _Read:
    parsed = _parse(text)
    marked = find_answer(text)
    spelling = next((entry for entry in parsed if isinstance(entry, str)), "")
    return _Read(parsed, spelling, _locate(text, parsed, spelling, marked), marked)


def _locate(text: str, parsed: list[Any], spelling: str, marked: FoundAnswer | None) -> Span | None:
    """Where the text has what math-verify read; it does not say so itself."""
    if not parsed:
        return None
    if marked is not None and (spelling == marked.text or _same_parse(parsed, marked.text)):
        return marked.span
    start = text.rfind(spelling) if spelling else -1
    if start >= 0:
        return Span(start, start + len(spelling))
    for numeral in reversed(list(numerals(text))):
        if _same_parse(parsed, text[numeral.span.start : numeral.span.end]):
            return numeral.span
    return None


def _same_parse(parsed: list[Any], part: str) -> bool:
    other = _parse(f"\\boxed{{{part}}}")
    return bool(other) and not isinstance(parsed[0], str) and bool(parsed[0] == other[0])


def _nothing_read(gold: str, read: _Read) -> Verdict:
    if read.marked is None:
        return Verdict(value=0.0, reason="no answer")
    # Words, mostly: the answer is there, but math-verify reads no mathematics in it.
    agrees = equal_value(gold, read.marked.text) is True
    remark = "; the second opinion takes it for the reference" if agrees else ""
    return Verdict(
        value=0.0,
        answer=read.marked.text[:MAX_SHOWN],
        span=read.marked.span,
        reason=f"mismatch: math-verify reads no mathematics in the answer{remark}",
        parts={"second_opinion": 1.0} if agrees else {},
    )


def _doubt(gold: str, read: _Read, equal: bool) -> tuple[float | None, str]:
    """The second opinion where it disagrees, and what to say about how the answer was read."""
    found = find_answer(gold)
    answer = read.spelling if read.marked is None else read.marked.text
    opinion = equal_value(gold if found is None else found.text, answer)
    if opinion is not None and opinion != equal:
        says = "equals" if opinion else "differs from"
        return float(opinion), (
            f", but in doubt: by the second opinion the answer {answer[:MAX_SHOWN]!r} {says} "
            "the reference"
        )
    if equal and all(isinstance(entry, str) for entry in read.parsed):
        return None, ", compared letter by letter: math-verify does not understand the answer"
    if read.marked is None:
        return None, ", picked from running text: the completion marks no answer as final"
    return None, ""
