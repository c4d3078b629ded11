"""Names and places inside a run. Parts of all kinds follow the parts of `rollouts/` by number."""

from __future__ import annotations

import re
from pathlib import Path

from hara_viz.errors import FormatError

LOCK = ".lock"
INDEX = "groups.parquet"
COMPLETE = "COMPLETE"
ROLLOUTS = "rollouts"
STATES = "states"
REWARDS = "rewards"
CREDIT = "credit"
LOGPROBS = "logprobs"

_PART = re.compile(r"part-(\d{5,})")


def part_name(number: int) -> str:
    """The name of a part: `part-00000` and so on."""
    return f"part-{number:05d}"


def part_number(name: str) -> int:
    """Inverse of `part_name`.

    Raises:
        FormatError: The name is not a part's; it may come from a file that cannot be trusted.
    """
    match = _PART.fullmatch(name)
    if match is None:
        raise FormatError(f"{name!r} is not the name of a part (expected part-00000 and so on)")
    return int(match[1])


def next_part_number(run: Path) -> int:
    """Past every number in use anywhere in the run.

    Rewards and credit of a part that somebody removed must not be taken for those of a new one.
    """
    matches = (_PART.fullmatch(path.stem) for path in run.rglob("part-*"))
    return max((int(match[1]) for match in matches if match), default=-1) + 1


def source_name(fingerprint: str) -> str:
    """A checkpoint's short name in paths.

    Raises:
        FormatError: The fingerprint, which may come from a foreign file, cannot be a path.
    """
    name = fingerprint[:8]
    if not re.fullmatch(r"[0-9A-Za-z]+", name):
        raise FormatError(f"{fingerprint!r} is not the fingerprint of a checkpoint")
    return name


def rollouts_path(run: Path, part: str) -> Path:
    """Where the rollouts of a part lie."""
    return run / ROLLOUTS / f"{part}.parquet"


def list_parts(folder: Path, suffix: str) -> tuple[str, ...]:
    """Names of the parts that a folder holds, in order; none if there is no such folder."""
    if not folder.is_dir():
        return ()
    names = [path.stem for path in folder.iterdir() if path.suffix == suffix]
    return tuple(sorted((n for n in names if _PART.fullmatch(n)), key=part_number))
