"""A source: one file, or a folder with the files of a training. Nothing outside it is opened."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePath

from hara_viz.errors import FormatError, InvalidInputError, MissingInputError, UnsafeError
from hara_viz.importers.records import READABLE
from hara_viz.importers.report import LeftOut

MAX_DEPTH = 6
MAX_FILES = 100_000
PICKLES = (".pt", ".pth", ".pkl", ".pickle", ".bin", ".ckpt", ".joblib")
_IN_FOLDERS = (".jsonl", ".ndjson", ".parquet")
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Source:
    """Files to read, in the order of the numbers in their names."""

    root: Path
    """The folder, or the folder of the only file."""
    files: tuple[PurePath, ...]
    """Below `root`."""
    left_out: tuple[LeftOut, ...] = ()

    @property
    def n_bytes(self) -> int:
        """Of all files together."""
        return sum((self.root / path).stat().st_size for path in self.files)


def open_source(path: str | Path) -> Source:
    """Find the files of a source.

    In a folder only `.jsonl`, `.ndjson` and `.parquet` count, to a bounded depth; links that lead
    out of it are not followed.

    Raises:
        MissingInputError: it does not exist.
        UnsafeError: it is a pickle, or holds pickles alone.
        FormatError: nothing in it can be read.
        InvalidInputError: it is a run of HarA-Viz.
    """
    path = Path(path)
    if not path.exists():
        raise MissingInputError(f"there is no {path}; give a dump's file or folder")
    if path.is_dir():
        return _folder(path)
    if path.suffix.lower() in PICKLES:
        raise UnsafeError(_no_pickles(str(path)))
    if path.suffix.lower() not in READABLE:
        raise FormatError(f"{path} is of no known kind; dumps end in {', '.join(READABLE)}")
    if path.stat().st_size == 0:
        raise FormatError(f"{path} is empty; give a dump with at least one rollout")
    return Source(path.parent, (PurePath(path.name),))


def _folder(root: Path) -> Source:
    if (root / "run.json").exists():
        raise InvalidInputError(f"{root} is a run of HarA-Viz already; open it as it is")
    files, pickles, left_out = _walk(root)
    if not files and pickles:
        raise UnsafeError(_no_pickles(f"{root} ({pickles[0]})"))
    if not files:
        raise FormatError(f"{root} holds no {', '.join(_IN_FOLDERS)} file; name a dump's folder")
    if pickles:
        left_out.append(LeftOut("a pickle, which could run code", len(pickles), str(pickles[0])))
    return Source(root, tuple(sorted(files, key=_natural)), tuple(left_out))


def _walk(root: Path) -> tuple[list[PurePath], list[PurePath], list[LeftOut]]:
    files: list[PurePath] = []
    pickles: list[PurePath] = []
    astray: list[PurePath] = []
    real_root = root.resolve()
    for place, folders, names in os.walk(root):
        below = Path(place).relative_to(root)
        deep = len(below.parts) >= MAX_DEPTH
        folders[:] = [] if deep else sorted(f for f in folders if not f.startswith("."))
        for name in names:
            suffix = PurePath(name).suffix.lower()
            if name.startswith(".") or suffix not in (*_IN_FOLDERS, *PICKLES):
                continue
            if not (Path(place) / name).is_file():  # a named pipe would be waited for in vain
                continue
            if not (Path(place) / name).resolve().is_relative_to(real_root):
                astray.append(below / name)
            elif suffix in PICKLES:
                pickles.append(below / name)
            else:
                files.append(below / name)
        if len(files) > MAX_FILES:
            raise FormatError(f"{root} holds over {MAX_FILES} files; name a folder further down")
    why = "a link that leads out of the folder"
    return files, pickles, [LeftOut(why, len(astray), str(astray[0]))] if astray else []


def _natural(path: PurePath) -> list[tuple[int, str]]:
    """Step 9 comes before step 10."""
    pieces = _DIGITS.split(str(path))
    return [(int(p), "") if p.isdigit() and len(p) < 20 else (-1, p) for p in pieces]


def _no_pickles(what: str) -> str:
    return (
        f"{what} is a pickle, which can run code when it is read, so it is not opened; load it "
        "where you trust it, write one JSON object per rollout (prompt, completion, reward, step) "
        "and import that"
    )
