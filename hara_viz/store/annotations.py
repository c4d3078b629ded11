"""`annotations.jsonl`: what people say about a run. Append-only, so nothing is ever lost.

An override of a verdict, a bookmark or a note is one line; taking it back is a line too. A line
torn by a crash is skipped and counted, and the next line starts afresh.
"""

from __future__ import annotations

import json
import math
import os
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from hara_viz.errors import InvalidInputError, StoreError
from hara_viz.store.files import open_here
from hara_viz.store.lock import turn
from hara_viz.types import GroupKey

FILE_NAME = "annotations.jsonl"
_LOCK = ".annotations.lock"


class Kind(StrEnum):
    """What an annotation says."""

    VERDICT = "verdict"
    """The reward of a sample is overridden by `reward`."""
    BOOKMARK = "bookmark"
    NOTE = "note"
    """Free text in `text`."""
    UNDO = "undo"
    """The annotation `target` no longer holds (undoing an undo brings it back)."""


def _is_key(value: object) -> bool:
    if not isinstance(value, GroupKey):
        return value is None
    step, problem, group = cast("tuple[object, object, object]", value)
    whole = (step is None or type(step) is int) and type(group) is int
    return whole and isinstance(problem, str)


def _is_place(value: object) -> bool:
    return value is None or (type(value) is int and value >= 0)


def _is_reward(value: object) -> bool:
    return value is None or (type(value) in (int, float) and math.isfinite(cast("float", value)))


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


_FITS: dict[str, Callable[[object], bool]] = {
    "key": _is_key,
    "sample": _is_place,
    "token": _is_place,
    "reward": _is_reward,
    "text": _is_text,
    "target": _is_text,
    "id": _is_text,
}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One line of `annotations.jsonl`."""

    kind: Kind
    key: GroupKey | None = None
    """None only for an undo."""
    sample: int | None = None
    """None: the whole group."""
    token: int | None = None
    reward: float | None = None
    text: str | None = None
    target: str | None = None
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: str = field(default_factory=_now)
    """UTC, ISO 8601."""

    def __post_init__(self) -> None:
        needs = {
            Kind.VERDICT: ("key", "sample", "reward"),
            Kind.BOOKMARK: ("key",),
            Kind.NOTE: ("key", "text"),
            Kind.UNDO: ("target",),
        }
        missing = [name for name in needs[self.kind] if getattr(self, name) is None]
        if missing:
            raise InvalidInputError(f"a {self.kind} annotation needs {' and '.join(missing)}")
        wrong = [name for name, fits in _FITS.items() if not fits(getattr(self, name))]
        if wrong:  # lines come from files that people edit
            raise InvalidInputError(f"a {self.kind} annotation has no usable {' and '.join(wrong)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotations:
    """What holds now, oldest first."""

    active: tuple[Annotation, ...] = ()
    n_unreadable: int = 0
    """Lines that could not be read (torn by a crash, or edited by hand)."""

    def verdicts(self) -> dict[tuple[GroupKey, int], Annotation]:
        """The overriding verdict of each (group, sample) that has one: the latest."""
        return {
            (a.key, a.sample): a
            for a in self.active
            if a.kind is Kind.VERDICT and a.key is not None and a.sample is not None
        }


def annotate(run: Path, annotation: Annotation) -> Annotation:
    """Append an annotation; it is on the disk when this returns."""
    line = json.dumps(asdict(annotation), ensure_ascii=True, allow_nan=False) + "\n"
    path = run / FILE_NAME
    with turn(run / _LOCK):
        descriptor = open_here(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            try:
                torn = os.fstat(descriptor).st_size and not _ends_with_newline(descriptor)
                _write_all(descriptor, (("\n" if torn else "") + line).encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"{path} could not be written: {error.strerror}") from error
    return annotation


def undo(run: Path, annotation_id: str) -> Annotation:
    """Take an annotation back.

    Raises:
        InvalidInputError: The run has no such annotation in force.
    """
    if annotation_id not in {a.id for a in read_annotations(run).active}:
        raise InvalidInputError(f"{run} has no annotation {annotation_id!r} that could be undone")
    return annotate(run, Annotation(kind=Kind.UNDO, target=annotation_id))


def read_annotations(run: Path) -> Annotations:
    """All annotations that hold.

    Raises:
        StoreError: there is a file of them that cannot be read.
    """
    path = run / FILE_NAME
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return Annotations()
    except OSError as error:
        raise StoreError(f"{path} could not be read: {error.strerror}") from error
    parsed = [_parse(line) for line in lines if line.strip()]
    readable = [annotation for annotation in parsed if annotation is not None]
    return Annotations(active=_in_force(readable), n_unreadable=len(parsed) - len(readable))


def _in_force(annotations: Sequence[Annotation]) -> tuple[Annotation, ...]:
    undone: set[str | None] = set()
    active: list[Annotation] = []
    for annotation in reversed(annotations):  # an undo may itself be undone later
        if annotation.id in undone:
            continue
        if annotation.kind is Kind.UNDO:
            undone.add(annotation.target)
        else:
            active.append(annotation)
    return tuple(reversed(active))


def _parse(line: bytes) -> Annotation | None:
    try:
        values: dict[str, Any] = json.loads(line)
        values["kind"] = Kind(values["kind"])
        if values.get("key") is not None:
            values["key"] = GroupKey(*values["key"])
        return Annotation(**values)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _ends_with_newline(descriptor: int) -> bool:
    return os.pread(descriptor, 1, os.fstat(descriptor).st_size - 1) == b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
