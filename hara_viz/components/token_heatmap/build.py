"""A group and its credit as a heatmap frame."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hara_viz.analysis.signals import (
    BASE_CHANNELS,
    SIGNALS,
    Offer,
    Signal,
    channel_values,
    channels_of,
)
from hara_viz.components.token_heatmap.frame import Frame, FrameRow, Kind
from hara_viz.errors import ShapeError
from hara_viz.text import Cell, cell_range, cells_of, inert, reasoning_steps, think_regions
from hara_viz.types import Rollout, RolloutGroup

if TYPE_CHECKING:
    from hara_viz.credit import Credit


def frame_of(
    group: RolloutGroup,
    credit: Credit,
    *,
    special_ids: Collection[int] = (),
    success_threshold: float = 0.5,
    offers: Sequence[Offer] = (),
) -> Frame:
    """Everything the heatmap shows of a group.

    Args:
        group: G rollouts. One without `cell_start` (imported text) is one cell per rollout.
        credit: packed, rows in the order of `group`: `novelty_feature`, `novelty_structure` and
            `weights` [N], `baseline` [G].
        special_ids: token ids that are markers (`run.info.checkpoint.special_ids`).
        success_threshold: reward from which a rollout counts as correct.
        offers: signals that can be asked for.

    Raises:
        ShapeError: `credit` does not fit the group's tokens, or `cell_start` its text.
    """
    n_tokens = sum(len(rollout.completion_ids) for rollout in group.rollouts)
    if credit.weights.numel() != n_tokens or credit.baseline.numel() != len(group):
        raise ShapeError(
            f"credit of {credit.weights.numel()} tokens and {credit.baseline.numel()} rollouts "
            f"does not fit a group of {n_tokens} and {len(group)}; compute it for this group"
        )
    kinds = _Kinds()
    cells: list[int] = []
    rows: list[FrameRow] = []
    special = frozenset(special_ids)
    for rollout, advantage in zip(group.rollouts, credit.baseline.tolist(), strict=True):
        starts = rollout.cell_start or (0,) * len(rollout.completion_ids)
        own = cells_of(rollout.completion_text, starts, rollout.completion_ids, special)
        cells += [kinds.index(rollout, cell) for cell in own]
        rows.append(_row(rollout, own, starts, advantage, success_threshold))
    found = {name: channel_values(name, group, credit) for name in BASE_CHANNELS}
    channels = {name: values for name, values in found.items() if values is not None}
    return Frame(
        rows=tuple(rows),
        kinds=tuple(kinds.found),
        cells=np.asarray(cells, np.int64),
        channels=channels,
        signals=available(set(channels)),
        offers=tuple(offers),
    )


def available(channels: Collection[str]) -> tuple[Signal, ...]:
    """The signals whose channels are all there, in order."""
    return tuple(s for s in SIGNALS.values() if set(channels_of(s)) <= set(channels))


class _Kinds:
    """Numbers equal cells alike, in the order in which they first occur."""

    def __init__(self) -> None:
        self.found: list[Kind] = []
        self._index: dict[tuple[str, tuple[int, ...], bool], int] = {}

    def index(self, rollout: Rollout, cell: Cell) -> int:
        text = rollout.completion_text[cell.start : cell.end]
        ids = rollout.completion_ids[cell.first_token : cell.last_token]
        key = (text, ids, cell.special)
        if key not in self._index:
            shown = inert(text)
            raw = None if shown == text else text.encode("utf-8", "surrogatepass").hex()
            self._index[key] = len(self.found)
            self.found.append(Kind(shown, tuple(ids), cell.special, raw))
        return self._index[key]


def _row(
    rollout: Rollout,
    cells: Sequence[Cell],
    starts: Sequence[int],
    advantage: float,
    threshold: float,
) -> FrameRow:
    reward = rollout.reward if rollout.reward is None or np.isfinite(rollout.reward) else None
    answer = None
    if rollout.answer_start is not None and rollout.answer_end is not None and cells:
        answer = cell_range(cells, rollout.answer_start, rollout.answer_end)
    steps = rollout.reasoning_step
    if steps is None and rollout.cell_start is not None:
        steps = reasoning_steps(rollout.completion_text, starts)
    return FrameRow(
        sample=rollout.sample,
        n_cells=len(cells),
        n_tokens=len(rollout.completion_ids),
        reward=reward,
        success=None if reward is None else reward >= threshold,
        advantage=advantage if np.isfinite(advantage) else None,
        finish=str(rollout.finish),
        reason=inert(rollout.reward_reason or ""),
        extracted=None if rollout.extracted_answer is None else inert(rollout.extracted_answer),
        answer=answer,
        think=tuple(
            cell_range(cells, a, b) for a, b in think_regions(rollout.completion_text) if cells
        ),
        steps=tuple(t for t, s in enumerate(steps or ()) if t == 0 or s != (steps or ())[t - 1]),
    )
