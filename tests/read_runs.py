"""A run whose rollouts another checkpoint read by teacher forcing, with states that are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from hara_viz.store import Reading, ReadingWriter, open_run
from hara_viz.types import CheckpointInfo, HiddenStates, RolloutGroup
from tests.small_runs import HIDDEN_SIZE, states_of

Change = Callable[[torch.Tensor], torch.Tensor]


def read_by(
    run: Path,
    fingerprint: str,
    layer: int,
    change: Change,
    keep: Callable[[int], bool] = lambda sample: True,
) -> None:
    """Let a checkpoint read a run; its states are those of the small runs, changed.

    `keep`: by sample, whose states are kept.
    """
    reader = CheckpointInfo(
        path=f"models/{fingerprint[:4]}",
        fingerprint=fingerprint,
        n_layers=layer,
        hidden_size=HIDDEN_SIZE,
    )
    opened = open_run(run)
    with ReadingWriter(run, reader, (layer,)) as writer:
        for part in writer.missing_parts:
            groups = opened.load_part(part)
            readings = [
                Reading((-1.0,) * len(r.completion_ids)) for g in groups for r in g.rollouts
            ]
            writer.write_part(part, groups, readings, [_states(groups, layer, change, keep)])
        writer.finish()


def _states(
    groups: tuple[RolloutGroup, ...], layer: int, change: Change, keep: Callable[[int], bool]
) -> HiddenStates:
    parts: list[torch.Tensor] = []
    counts: list[int] = [0]
    for group in groups:
        states = states_of(group, layer)
        for row, rollout in enumerate(group.rollouts):
            own = change(states.rows(row).float()) if keep(rollout.sample) else None
            parts += [] if own is None else [own]
            counts.append(0 if own is None else len(own))
    first = states_of(groups[0], layer)
    return replace(first, states=torch.cat(parts), offsets=torch.tensor(counts).cumsum(0))
