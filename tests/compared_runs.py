"""Two small runs of one series for tests of comparisons: "early" and "late", and "stranger".

The late checkpoint solves the pens, and its states are the early one's under another basis: what a
linear fit must find. The stranger belongs to no series.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from hara_viz.store import RunWriter
from hara_viz.types import (
    CheckpointInfo,
    HiddenStates,
    RolloutGroup,
    RunInfo,
    SamplingConfig,
    Series,
)
from tests.small_runs import (
    APPLES,
    APPLES_TEXTS,
    END,
    HIDDEN_SIZE,
    HOSTILE,
    HOSTILE_TEXTS,
    PENS,
    PENS_TEXTS,
    group_of,
    states_of,
    token_id,
)

LAYER = 4
LATE_PENS = (
    ("There are 3 boxes.\nEach box has 4 pens.\nSo there are 3 * 4 = 12 pens.", 1.0),
    ("There are 3 boxes.\nEach box has 4 pens.\nSo there are 3 * 4 = 12 pens.", 1.0),
    ("Count the pens box by box: 4, 8, 12.\nThe answer is 12 pens.", 1.0),
    ("Count the pens box by box: 4, 8, 12.\nThe answer is 12 pens.", 1.0),
    ("Count the pens box by box: 4, 8, 12.\nThe answer is 12 pens.", 1.0),
    ("There are 3 boxes and 4 pens.\nSo there are 7 pens.", 0.0),
)
EARLY = ((PENS, PENS_TEXTS), (HOSTILE, HOSTILE_TEXTS), (APPLES, APPLES_TEXTS))
LATE_HOSTILE = (*HOSTILE_TEXTS[:2], (HOSTILE_TEXTS[2][0], 1.0), HOSTILE_TEXTS[3])
LATE = ((PENS, LATE_PENS), (HOSTILE, LATE_HOSTILE), (APPLES, APPLES_TEXTS))


def write_compared(folder: Path) -> Path:
    """A runs folder with the three runs."""
    series = Series(id="training", method="hara", base_fingerprint="ba5e" * 4)
    _write(folder / "early", EARLY, series, 0, "aaaa" * 4, rotated=False)
    _write(folder / "late", LATE, series, 10, "bbbb" * 4, rotated=True)
    _write(folder / "stranger", LATE, None, None, "cccc" * 4, rotated=True)
    return folder


def rotation() -> torch.Tensor:
    """The change of basis [D, D] between the checkpoints."""
    noise = torch.randn(HIDDEN_SIZE, HIDDEN_SIZE, generator=torch.Generator().manual_seed(0))
    return torch.linalg.qr(noise).Q


def _write(
    path: Path, groups, series: Series | None, step: int | None, fingerprint: str, *, rotated: bool
) -> None:
    info = RunInfo(
        checkpoint=CheckpointInfo(
            path=f"models/{path.name}",
            fingerprint=fingerprint,
            n_layers=LAYER,
            hidden_size=HIDDEN_SIZE,
            special_ids=(token_id(END),),
        ),
        series=series,
        global_step=step,
        problem_set="word_problems.jsonl",
        sampling=SamplingConfig(group_size=6, max_new_tokens=64),
        created="2026-01-01T00:00:00+00:00",
    )
    with RunWriter(path, info) as writer:
        for problem, texts in groups:
            found = group_of(problem, texts)
            group = RolloutGroup(tuple(replace(r, global_step=step) for r in found.rollouts))
            writer.write_part([group], [_states(group, rotated=rotated)])
        writer.finish()


def _states(group: RolloutGroup, *, rotated: bool) -> HiddenStates:
    states = states_of(group, LAYER)
    return replace(states, states=states.states @ rotation()) if rotated else states
