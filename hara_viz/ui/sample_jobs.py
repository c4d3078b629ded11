"""What the start form describes -> the jobs to start. Pure; no Streamlit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hara_viz.backend.problem_preview import ColumnMap
from hara_viz.backend.sampling_job import SampleJob
from hara_viz.errors import InvalidInputError
from hara_viz.types import SamplingConfig, Series
from hara_viz.ui.roots import Roots

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_NAME = re.compile(r"[\w][\w .+-]{0,79}")
# "checkpoint-120", "global_step_40", "step0007": the training step in a checkpoint's name.
_STEP = re.compile(r"(?:checkpoint|step)[-_]?(\d{1,9})(?!.*\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The form's fields as the user filled them in."""

    checkpoints: Sequence[str]
    problems: str | None
    name: str = ""
    reward: str = "math"
    limit: int | None = None
    """Only the first of the set; None: all problems."""
    columns: str = ""
    """question=COLUMN,gold=COLUMN; empty: found by the layout."""
    layers: str = "-1"
    """Numbers, separated by commas."""
    states: str = "all"
    device: str = "auto"
    dtype: str = "auto"
    sampling: SamplingConfig = field(default_factory=SamplingConfig)


def jobs_of(wish: Wish, places: Roots) -> tuple[SampleJob, ...]:
    """One job per checkpoint; several form a series, in the order given. None: not filled in yet.

    Raises:
        HaraError: a field cannot be used, or a path lies outside the allowed folders.
    """
    if not wish.checkpoints or not wish.problems:
        return ()
    problems = resolve(wish.problems, places)
    models = [model_of(text, places) for text in wish.checkpoints]
    layers = layers_of(wish.layers)
    columns = ColumnMap.parse(wish.columns) if wish.columns else None
    several = len(models) > 1
    series_name = run_name(wish.name, Path(models[0]).parent.name or "series")
    taken = {entry.name for entry in places.runs.iterdir()} if places.runs.is_dir() else set()
    jobs = []
    for order, model in enumerate(models):
        stem = checkpoint_name(model)
        own = run_name("" if several else wish.name, f"{stem}-{problems.stem}")
        out = places.runs / (f"{series_name}/{own}" if several else own)
        jobs.append(
            SampleJob(
                model=model,
                problems=problems,
                out=out if several else _free(out, taken),
                sampling=wish.sampling,
                columns=columns,
                limit=wish.limit,
                layers=layers,
                states=wish.states,
                reward=wish.reward,
                device=wish.device,
                dtype=wish.dtype,
                roots=places.allowed,
                global_step=step_of(model, order) if several else step_of(model, None),
                series=Series(id=series_name) if several else None,
            )
        )
    return tuple(jobs)


def resolve(text: str, places: Roots) -> Path:
    """The file or folder that a choice or a typed path stands for.

    Raises:
        UnsafeError: it lies outside the allowed folders.
        MissingInputError: it does not exist.
    """
    relative = [root / text for root in places.allowed if (root / text).exists()]
    return places.inside(relative[0] if relative else Path(text))


def model_of(text: str, places: Roots) -> str:
    """A path below the allowed folders, or a hub id as it is.

    Raises:
        HaraError: it is neither.
    """
    local = any((root / text).exists() for root in places.allowed)
    if not local and _HUB_ID.fullmatch(text) and ".." not in text:
        return text
    return str(resolve(text, places))


def layers_of(text: str) -> tuple[int, ...]:
    """Layer numbers, separated by commas; negative ones count from the last.

    Raises:
        InvalidInputError: it is something else.
    """
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise InvalidInputError(
            f"layers is {text!r}; it must be whole numbers separated by commas, such as -1 or 8,16"
        ) from None


def step_of(model: str, order: int | None) -> int | None:
    """The training step that a checkpoint's name tells, else its place in the series."""
    match = _STEP.search(Path(model).name)
    return int(match[1]) if match else order


def checkpoint_name(model: str) -> str:
    """A checkpoint in a few words: `checkpoint-150` alone could be of any training. Pure."""
    path = Path(model)
    if model.endswith(".gguf"):
        return path.stem
    return f"{path.parent.name}/{path.name}" if _STEP.search(path.name) else path.name


def run_name(wanted: str, otherwise: str) -> str:
    """The name of a run's folder.

    Raises:
        InvalidInputError: the wanted name would not be a plain folder name.
    """
    if not wanted:
        return re.sub(r"[^\w.+-]+", "-", otherwise).strip("-.") or "run"
    if not _NAME.fullmatch(wanted):
        raise InvalidInputError(
            f"the name {wanted!r} cannot be a folder's; use letters, digits, blanks and . + - _"
        )
    return wanted


def _free(out: Path, taken: set[str]) -> Path:
    number = 2
    free = out
    while free.name in taken:
        free = out.with_name(f"{out.name}-{number}")
        number += 1
    return free
