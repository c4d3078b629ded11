"""What importers ask of a tokenizer; `backend` makes one of a checkpoint's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hara_viz.types import Message

Ids = Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """A tokenizer and its chat template, as functions."""

    name: str
    """Where it came from, for messages."""
    encode: Callable[[str], Ids]
    """Text to ids; marks that are written out become special tokens, none are added."""
    encode_prompt: Callable[[str], Ids]
    """Plain text to ids, with the marks that the tokenizer puts before a text."""
    render: Callable[[Sequence[Message]], Ids]
    """Chat turns to the ids of a prompt, up to where the assistant begins. Raises HaraError."""
    transcript: Callable[[Sequence[Message]], str]
    """A whole conversation as text, marks written out. Raises HaraError."""
    decode: Callable[[Ids], str]
    """Ids to text, marks written out, no space touched."""
    decode_stripped: Callable[[Ids], str]
    """Ids to text without the special tokens."""
    special_ids: frozenset[int]
    """Marks, not text."""
    end_ids: frozenset[int]
    """Those that end a completion."""
    n_ids: int
    """Ids from 0 to below this exist."""
