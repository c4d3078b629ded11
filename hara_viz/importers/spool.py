"""Rollouts that wait on disk until their group is known: a dump may be larger than the memory."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hara_viz.errors import StoreError
from hara_viz.importers.foreign import ForeignRollout, PromptKind
from hara_viz.types import Finish, Message


class Spool:
    """Rollouts by the place at which they were put.

    Args:
        folder: where the file lies; it has no name and is gone when this is closed.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (close() is ours)
        self._end = 0

    def put(self, rollout: ForeignRollout) -> int:
        """Keep a rollout; returns its place.

        Raises:
            StoreError: the disk is full.
        """
        values = {name: v for name, v in asdict(rollout).items() if v is not None}
        line = json.dumps(values).encode() + b"\n"
        place = self._end
        try:
            self._file.seek(place)
            self._file.write(line)
        except OSError as error:
            raise StoreError(
                f"the rows could not be kept while they are sorted: {error.strerror}; an import "
                "needs as much free disk as the dump has"
            ) from error
        self._end += len(line)
        return place

    def take(self, place: int) -> ForeignRollout:
        """The rollout at a place."""
        self._file.seek(place)
        values: dict[str, Any] = json.loads(self._file.readline())
        for name in ("prompt", "completion"):
            if isinstance(values.get(name), list):
                values[name] = tuple(Message(*turn) for turn in values[name])
        for name, value in values.items():
            if isinstance(value, list):
                values[name] = tuple(value)
        values["prompt_kind"] = PromptKind(values["prompt_kind"])
        values["finish"] = Finish(values["finish"])
        return ForeignRollout(**values)

    def close(self) -> None:
        """Forget all of it."""
        self._file.close()
