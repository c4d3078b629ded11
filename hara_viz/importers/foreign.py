"""What every layout is read into, and what a layout is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any, NamedTuple

from hara_viz.types import Finish, Message

Record = Mapping[str, Any]


class UnusableRowError(ValueError):
    """A record holds no rollout.

    Args:
        reason: in words that many records can share, for counting.
        detail: what this one holds.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class PromptKind(StrEnum):
    """What the text of a prompt is."""

    PLAIN = "plain"
    """As the trainer gave it to a tokenizer, which puts its own marks before it."""
    MARKED = "marked"
    """With all marks of the chat template written out."""
    STRIPPED = "stripped"
    """Decoded without the marks: roles and contents run together."""


class Grouping(StrEnum):
    """How the rollouts of one group are told from others."""

    OWN_IDS = "own ids"
    """Each record names its group."""
    RUNS = "runs"
    """Records of a group follow each other, and all groups are of one size."""
    PROMPTS = "prompts"
    """The same prompt at the same step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignRollout:
    """One completion as far as its dump tells. None means that it does not."""

    prompt: str | tuple[Message, ...] | None = None
    prompt_kind: PromptKind = PromptKind.PLAIN
    """Of a prompt that is text."""
    prompt_ids: tuple[int, ...] | None = None
    completion: str | tuple[Message, ...] | None = None
    """Text without the end mark, or turns of which the assistant's were sampled."""
    completion_ids: tuple[int, ...] | None = None
    sampled_mask: tuple[bool, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    """NaN on tokens that were not sampled."""
    logprobs_kind: str | None = None
    entropy: tuple[float, ...] | None = None
    global_step: int | None = None
    split: str | None = None
    group_id: str | None = None
    """The dump's own name of the group, if it has one."""
    own_id: str | None = None
    """The dump's own name of the rollout: a second record of that name is a copy."""
    order: tuple[int, ...] = ()
    """Place within the group, where records come in another order."""
    source_id: str | None = None
    gold: str | None = None
    reward: float | None = None
    reward_parts: Mapping[str, float | None] | None = None
    reward_reason: str | None = None
    advantage: float | None = None
    advantages: tuple[float, ...] | None = None
    """Per token of `completion_ids`."""
    advantage_rule: str | None = None
    finish: Finish = Finish.UNKNOWN
    error: str | None = None


def plain_text(said: str | tuple[Message, ...] | None) -> str | None:
    """A completion as one text: a text, or a single turn; None: it is neither."""
    if isinstance(said, tuple):
        return said[0].content if len(said) == 1 else None
    return said


class Place(NamedTuple):
    """Where a record stands."""

    path: PurePath
    """Of the file, below the source."""
    number: int
    """From 1; for JSON lines the line."""
    columns: Mapping[str, str]
    """Column -> Arrow type, of a Parquet file; empty for JSON."""

    def __str__(self) -> str:
        return f"{self.path}, row {self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One layout of dumps."""

    name: str
    """As `--format` takes it."""
    label: str
    """For people."""
    recognises: Callable[[Record, Place], bool]
    """Whether a record is laid out so; cheap, and never raises."""
    read: Callable[[Record, Place], Iterable[ForeignRollout]]
    """The rollouts of a record; raises UnusableRowError."""
    grouping: Grouping
    takes: Callable[[PurePath], bool] = lambda path: True
    """Whether a file of this name may be of the layout."""
    leaves_out: Callable[[PurePath, frozenset[PurePath]], str | None] = lambda path, others: None
    """Why a file of a folder is passed over (a copy of others, no rollouts), or None."""
    comes_first: Callable[[PurePath], bool] = lambda path: False
    """Whether a file is read before the others: of copies, the first one read holds."""
    notes: tuple[str, ...] = ()
    """What such a dump cannot tell, one sentence each."""
