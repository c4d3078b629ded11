"""The base frame of the token heatmap: one block of bytes that holds a whole group.

An envelope (`shared/envelope.py`) with magic "HARAHEAT" and version 2, whose blocks are

    cells    [C] u16, or u32 with more than 65,536 kinds: the kind of each display cell
    channels one after the other, [N] f16 each, NaN = unknown

C and N count the cells and tokens of all
rollouts in the order of `rows`. Equal cells (text, token ids, special) share a *kind*, so ids and
text cost nothing per token: 2 bytes a cell + 2 bytes a token and channel, 12 with five channels.
A channel is stored divided by its `scale`, a power of two, so f16 keeps three digits whatever the
unit; exact values come from Python when a token is pinned.

Signals are not stored but defined (`hara_viz.analysis.signals`): the browser derives novelty =
feature + structure, advantage = A_r · weight and so on from the channels; `signal_values` here is
its twin. What else can be asked for stands in `offers`; it comes in frames of its own
(`signal_frame.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hara_viz.analysis.signals import Offer, Signal, channels_of, evaluate
from hara_viz.errors import InvalidInputError, ShapeError

MAGIC = b"HARAHEAT"
VERSION = 2


class Kind(NamedTuple):
    """A display cell as it may occur many times."""

    text: str
    """Safe to show (see `text.inert`); newlines and tabs are kept."""
    ids: tuple[int, ...]
    """The tokens that share the cell; at least one."""
    special: bool
    raw: str | None = None
    """UTF-8 bytes in hex, where `text` differs from what the model wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRow:
    """One rollout. Cell ranges are (first, last exclusive) within the rollout."""

    sample: int
    n_cells: int
    n_tokens: int
    reward: float | None = None
    success: bool | None = None
    """None: unscored."""
    advantage: float | None = None
    """A_r before reweighting; None: unknown."""
    finish: str = "unknown"
    reason: str = ""
    extracted: str | None = None
    answer: tuple[int, int] | None = None
    """Cells of the answer that the verifier read."""
    think: tuple[tuple[int, int], ...] = ()
    steps: tuple[int, ...] = ()
    """First token of each reasoning step, rising from 0; empty: not cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A group as the heatmap reads it."""

    rows: tuple[FrameRow, ...]
    kinds: tuple[Kind, ...]
    cells: np.ndarray
    """[C] integers: the kind of each cell, rollout after rollout."""
    channels: Mapping[str, np.ndarray]
    """Name -> [N] floats, rollout after rollout; NaN = unknown."""
    signals: tuple[Signal, ...]
    """Those whose channels are all here."""
    offers: tuple[Offer, ...] = ()
    """Those that can be asked for."""
    domains: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=lambda: {})
    """Level -> signal -> ends of its colours, where they are not this frame's own quantiles: frames
    that stand side by side share them (`domains.py`)."""

    @property
    def n_tokens(self) -> int:
        """N, over all rollouts."""
        return sum(row.n_tokens for row in self.rows)


def signal_values(frame: Frame, name: str) -> np.ndarray:
    """The values [N] float64 of a signal: what the browser shows, evaluated here.

    Raises:
        InvalidInputError: the frame has no such signal.
    """
    found = [signal for signal in frame.signals if signal.name == name]
    if not found:
        names = ", ".join(signal.name for signal in frame.signals)
        raise InvalidInputError(f"the frame has no signal {name!r}; it has {names}")
    advantages = [np.nan if row.advantage is None else row.advantage for row in frame.rows]
    per_token = np.repeat(np.asarray(advantages, float), [row.n_tokens for row in frame.rows])
    return evaluate(found[0], frame.channels, per_token)


def check(frame: Frame) -> None:
    """Raise ShapeError unless all parts of the frame fit each other."""
    n_cells = sum(row.n_cells for row in frame.rows)
    if frame.cells.shape != (n_cells,):
        raise ShapeError(f"cells {frame.cells.shape} do not fit rollouts of {n_cells} cells")
    if n_cells and not 0 <= int(frame.cells.min()) <= int(frame.cells.max()) < len(frame.kinds):
        raise ShapeError(f"cells name kinds outside 0 … {len(frame.kinds) - 1}")
    if any(not kind.ids for kind in frame.kinds):
        raise ShapeError("every kind of cell needs at least one token id")
    n_ids = np.asarray([len(kind.ids) for kind in frame.kinds], int)
    start = 0
    for row in frame.rows:
        _check_row(row, int(n_ids[frame.cells[start : start + row.n_cells]].sum()))
        start += row.n_cells
    for name, values in frame.channels.items():
        if np.shape(values) != (frame.n_tokens,):
            raise ShapeError(
                f"channel {name!r} {np.shape(values)} does not fit {frame.n_tokens} tokens"
            )
    for signal in frame.signals:
        for channel in channels_of(signal):
            if channel not in frame.channels:
                raise ShapeError(f"signal {signal.name!r} needs channel {channel!r}")


def _check_row(row: FrameRow, tokens_in_cells: int) -> None:
    if tokens_in_cells != row.n_tokens:
        raise ShapeError(
            f"rollout {row.sample}: its cells hold {tokens_in_cells} tokens, not {row.n_tokens}"
        )
    for first, last in [*row.think, *([row.answer] if row.answer else [])]:
        if not 0 <= first <= last <= row.n_cells:
            raise ShapeError(
                f"rollout {row.sample}: range {first}…{last} is outside its {row.n_cells} cells"
            )
    steps = row.steps
    rising = all(a < b for a, b in pairwise(steps))
    if steps and (steps[0] != 0 or steps[-1] >= max(row.n_tokens, 1) or not rising):
        raise ShapeError(f"rollout {row.sample}: its reasoning steps do not rise from 0")
