"""What the import form describes -> the job to start. Pure; no Streamlit."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hara_viz.backend.import_run import ImportJob
from hara_viz.errors import InvalidInputError, StoreError
from hara_viz.ui.roots import Roots
from hara_viz.ui.sample_jobs import model_of, resolve, run_name

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


def keep_uploads(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write dropped files where a job can read them; equal files, equal place.

    Args:
        files: name as the browser sent it -> content. A name never becomes a path.
        folder: of all uploads.

    Returns:
        The folder of these files.

    Raises:
        InvalidInputError: two files of one name.
        StoreError: the disk refused.
    """
    names = {name: file_name(name) for name in files}
    if len(set(names.values())) < len(names):
        raise InvalidInputError("two of the files have the same name; drop them one after another")
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{names[name]}\n{len(files[name])}\n".encode() + files[name])
    place = folder / digest.hexdigest()[:16]
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = place / names[name]
            if not path.exists() or path.stat().st_size != len(content):
                path.write_bytes(content)
    except OSError as error:
        raise StoreError(
            f"{place} could not be written: {error.strerror}; free the disk"
        ) from error
    return place


def file_name(sent: str) -> str:
    """A plain file name from what a browser sent: no folders, no hidden file."""
    last = PurePosixPath(sent.replace("\\", "/")).name
    stem, dot, suffix = last.rpartition(".")
    return (
        f"{_UNSAFE.sub('-', stem).strip('-.')[:120] or 'dump'}{dot}{_UNSAFE.sub('', suffix)[:10]}"
    )


def _title(source: Path) -> str:
    """A run's name from a dump: the folder that holds it, rather than `completions`."""
    if source.parent.name == ".uploads":
        return "dump"
    plain = {"completions", "rollouts", "train", "all", "effective", "dump", "dumps"}
    parts = [part for part in source.with_suffix("").parts if part not in plain]
    return _UNSAFE.sub("-", parts[-1] if parts else "dump").strip("-.") or "dump"
