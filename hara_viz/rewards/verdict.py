"""What a reward function says of one answer, inside the worker: plain data, no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hara_viz.text.spans import Span


class RewardItem(NamedTuple):
    """One completion to judge."""

    text: str
    """The completion without its special cells."""
    gold: str | None = None
    prompt: str = ""
    """Only own reward functions look at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One reward function's value for one completion, and why."""

    value: float | None
    """None: unscored."""
    answer: str | None = None
    span: Span | None = None
    """Where the answer stands, in code points of the item's text."""
    reason: str = ""
    parts: Mapping[str, float | None] = field(default_factory=lambda: {})
    """Further values worth keeping, for instance "second_opinion"."""

    def to_json(self) -> dict[str, Any]:
        """The verdict as it crosses the pipe."""
        return {
            "value": self.value,
            "answer": self.answer,
            "span": self.span,
            "reason": self.reason,
            "parts": dict(self.parts),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Verdict:
        """Inverse of `to_json`."""
        span = fields["span"]
        return cls(**{**fields, "span": None if span is None else Span(*span)})


NO_GOLD = Verdict(value=None, reason="unscored: the problem has no gold answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """A loaded reward function; lives in a worker."""

    judge: Callable[[RewardItem], Verdict]
    read_gold: Callable[[str], str]
    """What the verifier understood of a gold answer; raises FormatError if unreadable."""
