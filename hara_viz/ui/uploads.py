"""Files dropped into the import form: kept where its job can read them, and cleared afterwards."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from hara_viz.backend import jobs
from hara_viz.backend.jobs import Job, JobState
from hara_viz.errors import InvalidInputError, StoreError

UPLOADS = ".uploads"
"""The folder of all uploads, in the folder of the jobs."""
KEPT_SECONDS = 24 * 3600.0
"""How long files wait for a job that nobody starts."""
_PLACE = re.compile(r"[0-9a-f]{16}")
_UNSAFE = re.compile(r"[^\w.+-]+")


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
        mark = _touched(place)
        mark.touch()
        now = time.time()
        os.utime(mark, (now, now))  # the disk's own clock lags by milliseconds
    except OSError as error:
        raise StoreError(
            f"{place} could not be written: {error.strerror}; free the disk"
        ) from error
    return place


def clear_uploads(jobs_dir: Path, now: float | None = None) -> tuple[Path, ...]:
    """Remove uploads that no job will read again; returns their folders.

    An upload goes when all imports of it are done and nobody has dropped the files anew since, or
    when no job knows it and it has waited a day. An import that failed, was stopped or lost can be
    resumed, so its files stay as long as the job is listed. Folders that are no uploads, and links,
    are left alone; what the disk refuses to remove stays for the next time.
    """
    folder = jobs_dir / UPLOADS
    places = [p for p in folder.iterdir() if _is_place(p)] if folder.is_dir() else []
    if not places:
        return ()
    users: dict[Path, list[Job]] = {place.resolve(): [] for place in places}
    for job in jobs.list_jobs(jobs_dir):
        source = job.arguments.get("source")
        if isinstance(source, str) and (used := _used(Path(source), users)) is not None:
            users[used].append(job)
    now = time.time() if now is None else now
    return tuple(p for p in places if _is_spent(p, users[p.resolve()], now) and _remove(p))


def file_name(sent: str) -> str:
    """A plain file name from what a browser sent: no folders, no hidden file."""
    last = PurePosixPath(sent.replace("\\", "/")).name
    stem, dot, suffix = last.rpartition(".")
    return (
        f"{_UNSAFE.sub('-', stem).strip('-.')[:120] or 'dump'}{dot}{_UNSAFE.sub('', suffix)[:10]}"
    )


def _is_place(path: Path) -> bool:
    return bool(_PLACE.fullmatch(path.name)) and path.is_dir() and not path.is_symlink()


def _used(source: Path, places: Mapping[Path, object]) -> Path | None:
    """The upload that a job's source is, or lies in."""
    real = source.resolve()
    return next((p for p in (real, *real.parents) if p in places), None)


def _is_spent(place: Path, users: list[Job], now: float) -> bool:
    used_at = _used_at(place)
    if not users:
        return now - used_at > KEPT_SECONDS
    if any(job.state is not JobState.DONE for job in users):
        return False
    return used_at < max(job.ended or now for job in users) or now - used_at > KEPT_SECONDS


def _touched(place: Path) -> Path:
    """A file beside an upload whose time says when the files were dropped last."""
    return place.with_name(f"{place.name}.used")


def _used_at(place: Path) -> float:
    mark = _touched(place)
    return (mark if mark.exists() else place).stat().st_mtime


def _remove(place: Path) -> bool:
    shutil.rmtree(place, ignore_errors=True)
    if place.exists():
        return False
    _touched(place).unlink(missing_ok=True)
    return True
