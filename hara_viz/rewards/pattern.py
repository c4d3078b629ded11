"""Reward `regex:PATTERN`: a regular expression of one's own, searched in the whole completion.

Thinking is searched too: a pattern may well ask for it. With a group, the first group of the last
match is the answer and must equal the reference, blanks around it aside. Without one, the reward is
1 where the pattern occurs at all (a format reward). A pattern that backtracks without end is
stopped with its worker, like any other verifier.
"""

from __future__ import annotations

import re
from collections import deque

from hara_viz.errors import ConfigError
from hara_viz.rewards.verdict import NO_GOLD, Reward, RewardItem, Verdict
from hara_viz.text.spans import Span


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern; `^` and `$` mean lines.

    Raises:
        ConfigError: it is empty or no regular expression.
    """
    if not pattern:
        raise ConfigError(r"the reward 'regex' has no pattern; write regex:PATTERN")
    try:
        return re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise ConfigError(
            f"the pattern {pattern!r} of the reward 'regex' is no regular expression ({error}); "
            "correct it"
        ) from error


def load(pattern: str) -> Reward:
    """The reward of one pattern."""
    compiled = compile_pattern(pattern)

    def judge(item: RewardItem) -> Verdict:
        last = next(iter(deque(compiled.finditer(item.text), maxlen=1)), None)
        if compiled.groups == 0:
            return _format_verdict(item.text, last)
        return NO_GOLD if item.gold is None else _answer_verdict(item.text, item.gold, last)

    return Reward(judge=judge, read_gold=str.strip)


def _format_verdict(text: str, match: re.Match[str] | None) -> Verdict:
    if match is None:
        return Verdict(value=0.0, reason="the pattern does not occur")
    span = Span(*match.span())
    answer = text[span.start : span.end]
    return Verdict(value=1.0, answer=answer, span=span, reason="the pattern occurs")


def _answer_verdict(text: str, gold: str, match: re.Match[str] | None) -> Verdict:
    if match is None or match.span(1) == (-1, -1):
        return Verdict(value=0.0, reason="no answer: the pattern does not occur")
    span = Span(*match.span(1))
    answer = text[span.start : span.end]
    equal = answer.strip() == gold.strip()
    reason = "match" if equal else "mismatch"
    return Verdict(value=float(equal), answer=answer, span=span, reason=reason)
