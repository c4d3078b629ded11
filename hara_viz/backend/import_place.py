"""Where an import is made: a hidden folder beside its place, moved there once it is whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hara_viz.errors import InvalidInputError, StoreError
from hara_viz.store.lock import FileLock


def refuse_taken(out: Path) -> None:
    """Refuse a place where something stands already.

    Raises:
        InvalidInputError: it is a file, a run or another folder that is not empty.
    """
    if out.is_dir() and not any(out.iterdir()):
        return
    if out.exists():
        what = "a run already" if (out / "run.json").exists() else "there already"
        raise InvalidInputError(f"{out} is {what}; remove it or choose another --out")


@contextmanager
def staging(out: Path) -> Iterator[Path]:
    """A hidden folder beside `out`; it is gone afterwards, and so is what a killed import left."""
    folder = out.parent / f".{out.name}.importing"
    made = [place for place in (out.parent, *out.parent.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder} could not be made: {error.strerror}; choose another --out"
        ) from error
    lock = FileLock(folder / ".lock", f"an import to {out}")
    try:
        if not (folder / ".lock").exists():  # the import before this one has just removed it
            raise StoreError(f"another import to {out} has just ended; try again")
        for left in folder.iterdir():
            if left.is_dir():
                shutil.rmtree(left)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # while it is ours
        lock.release()
        _remove_empty(made)


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # the run stands in it
            return


def move(made: Path, out: Path) -> None:
    """Put a whole run in its place, in one step.

    Raises:
        StoreError: the disk refused, or something stands there by now.
    """
    try:
        os.rename(made, out)
    except OSError as error:
        raise StoreError(
            f"{out} could not be made: {error.strerror}; choose another --out"
        ) from error
