"""Writing files so that a kill, a full disk or a power cut leaves the old file or the new one."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hara_viz.errors import StoreError

_TEMPORARY_SUFFIX = ".writing"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; after the block it takes the place of `path`.

    The temporary file is synced before the rename and the directory after it. If the block or the
    disk fails, `path` is as it was.

    Raises:
        StoreError: The file could not be written.
    """
    temporary = path.with_name(f".{path.name}{_TEMPORARY_SUFFIX}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if temporary.is_symlink():  # a run from others: what it points at is not ours to write
            temporary.unlink()
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        _sync(temporary)
        os.replace(temporary, path)
        _sync(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, StoreError):
            raise
        why = error.strerror or str(error)
        raise StoreError(
            f"{path} could not be written: {why}; nothing half-written is left, free the disk or "
            "fix the permissions and run the same command again"
        ) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def open_here(path: Path, flags: int) -> int:
    """A descriptor of a file that is changed in place; never of one that a link leads to.

    A run may come from others, and a link in it may point at any file of the reader's.

    Raises:
        StoreError: It is a symbolic link, or the system refused.
    """
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        why = f"could not be opened for writing: {error.strerror}"
        if path.is_symlink():
            why = "is a symbolic link, and what it points at is not changed; remove the link"
        raise StoreError(f"{path} {why}") from error


def write_text(path: Path, text: str) -> None:
    """Write a small text file in one piece."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def remove(path: Path) -> None:
    """Remove a file for good (a missing one is fine)."""
    if path.exists():
        path.unlink()
        _sync(path.parent)


def remove_leftovers(folder: Path, is_ours: Callable[[str], bool] = lambda part: True) -> None:
    """Remove the temporary files that a killed writer left in a folder.

    Args:
        folder: Where it wrote.
        is_ours: Says of a part's name whether its file is ours to write; another writer may be at
            work in the same folder.
    """
    for path in folder.glob(f".*{_TEMPORARY_SUFFIX}"):
        part = path.name.removeprefix(".").partition(".")[0]
        if is_ours(part):
            path.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
