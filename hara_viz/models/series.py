"""The checkpoints of one training, in order: folders such as `checkpoint-N` and `step_N`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from hara_viz.errors import FormatError, HaraError, MissingInputError
from hara_viz.models.layouts import detect_layout

STEP_FOLDER = re.compile(r"(?:checkpoint|global_steps?|step|iter)[-_]0*(\d+)(?:_hf)?")
# Where a trainer puts the loadable model within a step's folder; the folder itself comes first.
INNER = ("", "actor/huggingface", "actor/hf_model", "policy", "hf", "huggingface")
DONE_MARKER = "STABLE"


class StepCheckpoint(NamedTuple):
    """A checkpoint of a training."""

    global_step: int
    path: Path


class Series(NamedTuple):
    """What a training's folder holds."""

    checkpoints: tuple[StepCheckpoint, ...]
    """Loadable ones, in order of step."""
    skipped: tuple[tuple[Path, str], ...]
    """Step folders that cannot be loaded, each with the reason."""


def find_series(folder: str | Path) -> Series:
    """Checkpoints below `folder`, ordered by global step.

    A folder whose siblings carry a `STABLE` marker but that has none itself is still being
    written, and is skipped.

    Raises:
        MissingInputError: No such folder.
        FormatError: It holds no step folders, or none of them can be loaded.
    """
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise MissingInputError(f"{folder} is not a directory; give the folder of a training")
    steps = [p for p in sorted(folder.iterdir()) if p.is_dir() and STEP_FOLDER.fullmatch(p.name)]
    if not steps:
        raise FormatError(
            f"{folder} holds no folders named checkpoint-N, global_step_N or step_N; give the "
            "folder that your trainer saves checkpoints in"
        )
    marked = any((step / DONE_MARKER).exists() for step in steps)
    found: list[StepCheckpoint] = []
    skipped: list[tuple[Path, str]] = []
    for step in steps:
        if marked and not (step / DONE_MARKER).exists():
            skipped.append((step, f"no {DONE_MARKER} marker, so it is still being written"))
            continue
        try:
            found.append(_checkpoint(step))
        except HaraError as error:
            skipped.append((step, str(error)))
    if not found:
        raise FormatError(
            f"none of the {len(steps)} step folders of {folder} can be loaded; the first: "
            f"{skipped[0][1]}"
        )
    return Series(tuple(sorted(found)), tuple(skipped))


def _checkpoint(step: Path) -> StepCheckpoint:
    """The loadable model in a step's folder; the last error if there is none."""
    places = [step / inner for inner in INNER if (step / inner).is_dir()]
    errors: list[HaraError] = []
    for place in places:
        try:
            detect_layout(place)
        except HaraError as error:
            errors.append(error)
            continue
        return StepCheckpoint(global_step(step), place)
    raise errors[0]


def global_step(step: Path) -> int:
    """The step that the trainer's state names, or else the folder's name."""
    state = step / "trainer_state.json"
    match = STEP_FOLDER.fullmatch(step.name)
    named = int(match.group(1)) if match else 0
    try:
        return int(json.loads(state.read_text(encoding="utf-8"))["global_step"])
    except (OSError, ValueError, KeyError, TypeError):
        return named
