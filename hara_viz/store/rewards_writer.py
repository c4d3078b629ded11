"""Scoring a run again: writes a rewards version part by part, and resumes where it was killed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import pyarrow as pa

from hara_viz.errors import ShapeError, StoreError
from hara_viz.store import layout
from hara_viz.store.files import remove_leftovers, write_text
from hara_viz.store.header import read_header
from hara_viz.store.index import update_index
from hara_viz.store.lock import FileLock
from hara_viz.store.parquet import write_tables
from hara_viz.store.rewards import (
    HEADER,
    all_versions,
    list_versions,
    reward_of_version,
    version_folder,
    version_number,
    version_parts,
)
from hara_viz.store.schema import REWARDS, judgement_to_row
from hara_viz.store.text_json import to_json
from hara_viz.types import Judgement, Rollout


class RewardsWriter:
    """Writes one rewards version part by part; holds the run's scoring lock.

    Takes up the last version again if it is of the same reward and either unfinished or behind
    the run; else begins the next. Use it as a context manager.
    """

    def __init__(self, run: Path, reward: str) -> None:
        self._run = run
        read_header(run)  # a run, and not of a newer schema
        folder = run / layout.REWARDS
        folder.mkdir(exist_ok=True)
        self._lock = FileLock(folder / layout.LOCK, f"a rewards version of {run}")
        try:
            self.version = _choose_version(run, reward)
            self._folder = version_folder(run, self.version)
            remove_leftovers(self._folder)
            write_text(self._folder / HEADER, to_json({"reward": reward}) + "\n")
        except BaseException:
            self._lock.release()
            raise

    @property
    def missing_parts(self) -> tuple[str, ...]:
        """Parts of the run that still have to be scored."""
        return _unscored(self._run, self.version)

    def write_part(
        self, part: str, rollouts: Sequence[Rollout], judgements: Sequence[Judgement]
    ) -> None:
        """Write the verdicts on all rollouts of a part, in the order of the part."""
        if len(rollouts) != len(judgements):
            raise ShapeError(f"{part}: {len(judgements)} verdicts for {len(rollouts)} rollouts")
        layout.part_number(part)
        rows = [judgement_to_row(r, j) for r, j in zip(rollouts, judgements, strict=True)]
        table = pa.Table.from_pylist(rows, schema=REWARDS)
        write_tables(self._folder / f"{part}.parquet", [table])

    def finish(self) -> None:
        """Make the version count.

        Raises:
            StoreError: Some part has not been scored.
        """
        missing = self.missing_parts
        if missing:
            raise StoreError(f"{self._run}: {', '.join(missing)} not scored; score all parts first")
        write_text(self._folder / layout.COMPLETE, to_json({"version": self.version}) + "\n")
        update_index(self._run)
        self.close()

    def close(self) -> None:
        """Let other writers in; what was written so far is taken up by the next one."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _choose_version(run: Path, reward: str) -> str:
    versions = all_versions(run)
    if not versions:
        return "v0001"
    last = versions[-1]
    header = version_folder(run, last) / HEADER
    same_reward = header.exists() and reward_of_version(run, last) == reward
    if same_reward and (last not in list_versions(run) or _unscored(run, last)):
        return last
    return f"v{version_number(last) + 1:04d}"


def _unscored(run: Path, version: str) -> tuple[str, ...]:
    done = set(version_parts(run, version))
    parts = layout.list_parts(run / layout.ROLLOUTS, ".parquet")
    return tuple(part for part in parts if part not in done)
