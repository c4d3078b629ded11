"""Writing a run, part by part, so that a kill at any moment loses at most the part in flight.

Order within a part: states first, then rollouts. The rename of the rollouts file is the commit;
states without their rollouts are discarded by the next writer. `groups.parquet` follows and is
derived, COMPLETE comes last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import torch

from hara_viz.errors import InvalidInputError, StoreError
from hara_viz.store import layout
from hara_viz.store.card import write_card
from hara_viz.store.completion import write_complete
from hara_viz.store.files import remove, remove_leftovers, sha256
from hara_viz.store.header import FILE_NAME as HEADER
from hara_viz.store.header import read_header, write_header
from hara_viz.store.index import read_index, summarise, update_index
from hara_viz.store.lock import FileLock
from hara_viz.store.parquet import row_group_sizes, write_tables
from hara_viz.store.schema import group_to_table, key_of
from hara_viz.store.states import STORED_DTYPES, check_fits, states_folder, write_states
from hara_viz.store.text_json import to_json
from hara_viz.types import GroupKey, HiddenStates, RolloutGroup, RunInfo, SamplingConfig

_MUST_AGREE = ("global_step", "reward", "success_threshold", "seed")
"""What cannot change within a run: its rollouts would no longer be of one kind."""


class RunWriter:
    """The one writer of a run; holds its lock. Use it as a context manager.

    Args:
        path: The run's directory; made if it does not exist.
        info: The header. A run that is resumed keeps its own.
        resume: Go on with a run that exists; False refuses one.
        states_dtype: How states are stored: "bfloat16", "float32" or "float16".

    Raises:
        InvalidInputError: The directory is something else, or the run was made with other
            settings, or exists and may not be resumed.
        SchemaError: A newer version wrote the run.
        StoreError: Another writer is at work, or the disk failed.
    """

    def __init__(
        self,
        path: str | Path,
        info: RunInfo,
        *,
        resume: bool = True,
        states_dtype: str = "bfloat16",
    ) -> None:
        if states_dtype not in STORED_DTYPES:
            raise InvalidInputError(
                f"states_dtype is {states_dtype!r}; choose one of {', '.join(STORED_DTYPES)}"
            )
        self.path = Path(path)
        self._dtype: torch.dtype = STORED_DTYPES[states_dtype]
        self._checksums: dict[Path, str] = {}
        _refuse_foreign(self.path)
        _make_folder(self.path)
        self._lock = FileLock(self.path / layout.LOCK, str(self.path))
        try:
            self.info = self._open(info, resume)
            self._done, self._next = self._take_stock()
        except BaseException:
            self._lock.release()
            raise

    @property
    def done_keys(self) -> frozenset[GroupKey]:
        """The groups that are safely in the run."""
        return frozenset(self._done)

    def write_part(
        self, groups: Sequence[RolloutGroup], states: Sequence[HiddenStates] = ()
    ) -> str:
        """Write whole groups as one part; they are in the run when this returns.

        Args:
            groups: At least one, none of them in the run yet.
            states: One record per layer; rows as the rollouts of `groups`, one after the other. A
                rollout has one row per token, or none if its states are not kept.

        Returns:
            The part's name.

        Raises:
            InvalidInputError: No groups, or a group that the run has already.
            ShapeError: States do not fit the rollouts.
            StoreError: The disk failed; the part is in the run whole, or not at all.
        """
        self._check(groups, states)
        part = layout.part_name(self._next)
        tables = [group_to_table(group) for group in groups]
        rollouts = layout.rollouts_path(self.path, part)
        written: list[Path] = []
        remove(self.path / layout.COMPLETE)
        try:
            for layer in states:
                written.append(states_folder(self.path, layer.layer) / f"{part}.safetensors")
                write_states(written[-1], layer, self._dtype)
            write_tables(rollouts, tables)
        finally:
            if rollouts.exists():  # committed, even if an interrupt came right after the rename
                self._done.update(group.key for group in groups)
                self._next += 1
            else:  # else the states would be paired with the next part's rollouts
                for path in written:
                    path.unlink(missing_ok=True)
        self._checksums.update({path: sha256(path) for path in [*written, rollouts]})
        update_index(self.path, at_hand=summarise(groups, part))
        return part

    def finish(self) -> None:
        """Mark the run complete and let others write."""
        update_index(self.path)
        write_card(self.path, self.info)
        write_complete(self.path, self._checksums)
        self.close()

    def close(self) -> None:
        """Let others write; the run stays as it is, to be resumed."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self, info: RunInfo, resume: bool) -> RunInfo:
        if not (self.path / HEADER).exists():
            write_header(self.path, info)
            write_card(self.path, info)
            return info
        stored = read_header(self.path)
        if not resume:
            raise InvalidInputError(
                f"{self.path} is a run already; resume it, remove it or choose another --out"
            )
        _refuse_other_settings(self.path, stored, info)
        return stored

    def _take_stock(self) -> tuple[set[GroupKey], int]:
        """What the run holds for certain: its groups, and the number of the next part."""
        parts = set(layout.list_parts(self.path / layout.ROLLOUTS, ".parquet"))
        for part in parts:
            row_group_sizes(layout.rollouts_path(self.path, part))  # names a damaged part
        remove_leftovers(self.path / layout.ROLLOUTS)
        for folder in (self.path / layout.STATES).glob("*"):
            # A reading may be going on meanwhile, but of committed parts.
            remove_leftovers(folder, lambda part: part not in parts)
            for part in layout.list_parts(folder, ".safetensors"):
                if part not in parts:  # killed before the commit
                    remove(folder / f"{part}.safetensors")
        update_index(self.path, lambda table: _only_parts(table, parts))
        keys = read_index(self.path).select(["global_step", "problem_id", "group"]).to_pylist()
        return {key_of(row) for row in keys}, layout.next_part_number(self.path)

    def _check(self, groups: Sequence[RolloutGroup], states: Sequence[HiddenStates]) -> None:
        if not groups:
            raise InvalidInputError(f"a part of {self.path} needs at least one group")
        keys = [group.key for group in groups]
        repeated = [k for i, k in enumerate(keys) if k in self._done or k in keys[:i]]
        if repeated:
            raise InvalidInputError(
                f"{self.path} has the group {tuple(repeated[0])} already; skip the groups in "
                "done_keys"
            )
        layers = [layer.layer for layer in states]
        if len(set(layers)) < len(layers):
            raise InvalidInputError(f"states of layers {layers}: each layer may come once")
        for layer in states:
            check_fits(groups, layer)


def _only_parts(index: pa.Table, parts: set[str]) -> pa.Table:
    return index.filter(
        pa.array([p in parts for p in index.column("part").to_pylist()], pa.bool_())
    )


def _refuse_foreign(path: Path) -> None:
    """Never write into a directory that is something else."""
    if path.exists() and not path.is_dir():
        raise InvalidInputError(f"{path} is a file; a run needs a directory, choose another --out")
    if path.is_dir() and not (path / HEADER).exists():
        # A run killed before its header was written holds hidden files only.
        others = sorted(p.name for p in path.iterdir() if not p.name.startswith("."))
        if others:
            raise InvalidInputError(
                f"{path} is not a run and not empty (it holds {others[0]}); choose another --out"
            )


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{path} could not be made: {error.strerror}; choose another --out"
        ) from error


def _refuse_other_settings(path: Path, stored: RunInfo, given: RunInfo) -> None:
    changed = [
        f"{name} was {_short(was)}, now {_short(now)}"
        for name, was, now in _settings(stored, given)
        if was != now
    ]
    if changed:
        raise InvalidInputError(
            f"{path} was made with other settings: {'; '.join(changed)}; use the same ones to "
            "resume it, or choose another --out"
        )


def _settings(stored: RunInfo, given: RunInfo) -> list[tuple[str, Any, Any]]:
    """(name, stored value, given value) of all that may not change within a run."""
    pairs = [(name, getattr(stored, name), getattr(given, name)) for name in _MUST_AGREE]
    pairs.append(("checkpoint", _fingerprint(stored), _fingerprint(given)))
    if stored.sampling is not None and given.sampling is not None:
        # Each field by its name; through JSON, as the stored ones came.
        was, now = _plain(stored.sampling), _plain(given.sampling)
        pairs += [(name, was.get(name), now[name]) for name in now]
    else:
        pairs.append(("sampling", stored.sampling, given.sampling))
    if stored.training is not None and given.training is not None:
        was, now = asdict(stored.training), asdict(given.training)
        pairs += [(f"training.{name}", was[name], now[name]) for name in now]
    else:
        pairs.append(("training", stored.training, given.training))
    return pairs


def _plain(sampling: SamplingConfig) -> dict[str, Any]:
    return json.loads(to_json(asdict(sampling)))


def _fingerprint(info: RunInfo) -> str | None:
    return None if info.checkpoint is None else info.checkpoint.fingerprint or info.checkpoint.path


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
