"""What the import form describes -> the job to start. Pure; no Streamlit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from hara_viz.backend.import_run import ImportJob
from hara_viz.errors import InvalidInputError
from hara_viz.ui.roots import Roots
from hara_viz.ui.sample_jobs import model_of, resolve, run_name
from hara_viz.ui.uploads import UPLOADS

_UNSAFE = re.compile(r"[^\w.+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportWish:
    """The form's fields as the user filled them in."""

    source: Path
    """Resolved already: below an allowed folder, or what was dropped."""
    format_name: str = "auto"
    model: str | None = None
    problems: str | None = None
    name: str = ""
    threshold: float = 0.5


def job_of(wish: ImportWish, places: Roots) -> ImportJob:
    """The job that imports.

    Raises:
        HaraError: a field cannot be used, or a path lies outside the allowed folders.
    """
    out = places.runs / run_name(wish.name, f"{_title(wish.source)}-imported")
    if wish.name and out.exists():
        raise InvalidInputError(f"there is a run named {wish.name} already; choose another name")
    number = 2
    while out.exists():
        out = out.with_name(f"{_title(wish.source)}-imported-{number}")
        number += 1
    return ImportJob(
        source=wish.source,
        out=out,
        format=wish.format_name,
        model=None if not wish.model else model_of(wish.model, places),
        problems=None if not wish.problems else resolve(wish.problems, places),
        success_threshold=wish.threshold,
        roots=places.allowed,
    )


def _title(source: Path) -> str:
    """A run's name from a dump: the folder that holds it, rather than `completions`."""
    if source.parent.name == UPLOADS:
        return "dump"
    plain = {"completions", "rollouts", "train", "all", "effective", "dump", "dumps"}
    parts = [part for part in source.with_suffix("").parts if part not in plain]
    return _UNSAFE.sub("-", parts[-1] if parts else "dump").strip("-.") or "dump"
