"""Where an export is written: in one piece, and never over something by mistake."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hara_viz.errors import InvalidInputError
from hara_viz.store.files import replacing, write_text
from hara_viz.store.header import FILE_NAME

_MARK = ".hara-viz-export"
"""Lies in every folder that we wrote: only such a folder is ever replaced."""


def check_place(out: Path, *, force: bool, suffixes: Sequence[str] = ()) -> None:
    """Refuse a place that cannot be a file of ours, before anything is computed.

    Args:
        out: the file.
        force: it may be there already.
        suffixes: what its name may end with; none: anything.

    Raises:
        InvalidInputError: `out` is a folder, lies in none that exists or inside a run, is there
            already, or its name has another ending.
    """
    if out.is_dir() or not out.parent.is_dir():
        raise InvalidInputError(f"{out} cannot be written; name a file in a folder that exists")
    if any((folder / FILE_NAME).exists() for folder in out.resolve().parents):
        raise InvalidInputError(
            f"{out} lies inside a run, whose files it might replace; name a file elsewhere"
        )
    if out.exists() and not force:
        raise InvalidInputError(f"{out} is there already; name another file, or pass --force")
    if suffixes and out.suffix not in suffixes:
        raise InvalidInputError(f"{out.name} has no form; end it with {' or '.join(suffixes)}")


@contextmanager
def new_file(out: Path, *, force: bool) -> Iterator[Path]:
    """A temporary path that becomes `out` after the block; a failure leaves what was there.

    Raises:
        InvalidInputError: as `check_place`.
        StoreError: the disk refused.
    """
    check_place(out, force=force)
    with replacing(out) as temporary:
        yield temporary


@contextmanager
def new_folder(out: Path, *, force: bool) -> Iterator[Path]:
    """A temporary folder that becomes `out` after the block.

    Raises:
        InvalidInputError: `out` is a file, lies in no folder, or is there already. `force` replaces
            only what an export wrote.
    """
    if not out.parent.is_dir() or (out.exists() and not out.is_dir()):
        raise InvalidInputError(f"{out} cannot be written; name a folder inside one that exists")
    if out.exists() and any(out.iterdir()):
        if not (out / _MARK).is_file():
            raise InvalidInputError(f"{out} holds other files; name a new folder")
        if not force:
            raise InvalidInputError(f"{out} is there already; name another one, or pass --force")
    temporary = out.with_name(f".{out.name}.writing")
    shutil.rmtree(temporary, ignore_errors=True)  # of a killed export
    temporary.mkdir()
    try:
        yield temporary
        write_text(temporary / _MARK, "Written by hara-viz export; --force may replace it.\n")
        _swap(temporary, out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _swap(temporary: Path, out: Path) -> None:
    if not out.exists():
        os.rename(temporary, out)
        return
    old = out.with_name(f".{out.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    os.rename(out, old)
    try:
        os.rename(temporary, out)
    except OSError:
        os.rename(old, out)
        raise
    shutil.rmtree(old)
