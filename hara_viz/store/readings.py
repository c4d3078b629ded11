"""Readings: what a checkpoint says of completions that are already there, by teacher forcing.

`logprobs/<source>/part-*.parquet` holds log-probabilities and entropies, `states/<layer>/` (own
checkpoint) or `states/<layer>@<source>/` (another one) the hidden states; source = the first 8
digits of the checkpoint's fingerprint. So a run can be compared under a reference checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from hara_viz.errors import FormatError, InvalidInputError, ShapeError
from hara_viz.store import layout
from hara_viz.store.completion import write_complete
from hara_viz.store.files import remove_leftovers, write_text
from hara_viz.store.header import checkpoint_from, read_header
from hara_viz.store.index import read_index
from hara_viz.store.lock import FileLock
from hara_viz.store.parquet import read_row_group, write_tables
from hara_viz.store.schema import KEY_FIELDS, key_of
from hara_viz.store.states import (
    STORED_DTYPES,
    check_fits,
    merge_states,
    read_states,
    states_folder,
    write_states,
)
from hara_viz.store.text_json import to_json
from hara_viz.types import CheckpointInfo, GroupKey, HiddenStates, Rollout, RolloutGroup

_CHECKPOINT = "checkpoint.json"

SCHEMA = pa.schema(
    [
        *KEY_FIELDS,
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("logprobs", pa.list_(pa.float32())),
        pa.field("entropy", pa.list_(pa.float32())),
    ]
)
"""Columns of `logprobs/<source>/part-*.parquet`: rows as in the rollouts part."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A checkpoint's view of one completion, per token."""

    logprobs: tuple[float, ...]
    """Log-probability of each token, of the model itself (no temperature, no cuts), in nats."""
    entropy: tuple[float, ...] | None = None
    """Of the distribution that each token would be drawn from, in nats."""


class ReadingWriter:
    """Adds a checkpoint's reading to a run, part by part; takes up where it was broken off.

    Use it as a context manager.

    Args:
        run: The run's directory.
        checkpoint: Who reads.
        layers: Layers whose states are stored, non-negative.
        keep: Groups whose states are stored; None: all. Log-probabilities are stored of all.
        states_dtype: As for `RunWriter`.

    Raises:
        MissingInputError, SchemaError: There is no run, or a newer one.
        StoreError: Another process is reading the run.
    """

    def __init__(
        self,
        run: Path,
        checkpoint: CheckpointInfo,
        layers: Sequence[int] = (),
        *,
        keep: Collection[GroupKey] | None = None,
        states_dtype: str = "bfloat16",
    ) -> None:
        info = read_header(run)
        own = info.checkpoint is not None and (
            info.checkpoint.fingerprint == checkpoint.fingerprint
        )
        self.source = None if own else checkpoint.fingerprint
        """None: the run's own checkpoint, else the fingerprint to load the reading by."""
        self._run = run
        self._keep = keep
        self._dtype = STORED_DTYPES[states_dtype]
        self._folder = readings_folder(run, checkpoint.fingerprint)
        self._layers = {layer: states_folder(run, layer, self.source) for layer in layers}
        self._lock = FileLock(run / ".readings.lock", f"a reading of {run}")
        try:
            parts = layout.list_parts(run / layout.ROLLOUTS, ".parquet")
            for folder in (self._folder, *self._layers.values()):
                folder.mkdir(parents=True, exist_ok=True)
                remove_leftovers(folder, lambda part: part in parts)
            write_text(self._folder / _CHECKPOINT, to_json(asdict(checkpoint), indent=2) + "\n")
        except BaseException:
            self._lock.release()
            raise

    @property
    def missing_parts(self) -> tuple[str, ...]:
        """Parts of the run that lack log-probabilities, or states that are to be kept."""
        read = set(layout.list_parts(self._folder, ".parquet"))
        wanted = self._wanted_rows() if self._layers else {}
        parts = layout.list_parts(self._run / layout.ROLLOUTS, ".parquet")
        return tuple(
            part
            for part in parts
            if part not in read
            or any(
                _lacks(folder / f"{part}.safetensors", wanted.get(part, ()))
                for folder in self._layers.values()
            )
        )

    def _wanted_rows(self) -> dict[str, list[dict[str, Any]]]:
        """The groups whose states are to be stored, by part: rows of the index."""
        wanted: dict[str, list[dict[str, Any]]] = {}
        for row in read_index(self._run).to_pylist():
            if any(row["lengths"]) and (self._keep is None or key_of(row) in self._keep):
                wanted.setdefault(row["part"], []).append(row)
        return wanted

    def write_part(
        self,
        part: str,
        groups: Sequence[RolloutGroup],
        readings: Sequence[Reading],
        states: Sequence[HiddenStates] = (),
    ) -> None:
        """Write the reading of a part.

        Args:
            part: Its name, one of `missing_parts`.
            groups: Its groups, as `Run.load_part` gives them.
            readings: One per rollout, in that order.
            states: One record per layer. What the part has already stays as it is, and groups
                that are not to be kept leave no rows.

        Raises:
            ShapeError: Some reading does not fit its completion.
            InvalidInputError: The layer is stored in another size.
        """
        layout.part_number(part)
        rollouts = [rollout for group in groups for rollout in group.rollouts]
        _check(rollouts, readings)
        if {layer.layer for layer in states} != set(self._layers):
            raise InvalidInputError(
                f"states of layers {[s.layer for s in states]} were given, the reading is of "
                f"layers {sorted(self._layers)}"
            )
        for layer in states:
            check_fits(groups, layer)
            self._write_states(self._layers[layer.layer] / f"{part}.safetensors", groups, layer)
        rows = iter(readings)
        tables = [_table(group, [next(rows) for _ in group.rollouts]) for group in groups]
        write_tables(self._folder / f"{part}.parquet", tables)

    def _write_states(
        self, path: Path, groups: Sequence[RolloutGroup], layer: HiddenStates
    ) -> None:
        kept = [self._keep is None or g.key in self._keep for g in groups for _ in g.rollouts]
        old = read_states(path, 0, len(kept)) if path.exists() else None
        if old is not None and old.states.shape[1] != layer.states.shape[1]:
            raise InvalidInputError(
                f"{path.parent} holds states of {old.states.shape[1]} numbers each, these have "
                f"{layer.states.shape[1]}; give the same --project, or remove that folder"
            )
        whole = merge_states(old, layer, kept)
        if len(whole.states):
            write_states(path, whole, self._dtype)

    def finish(self) -> None:
        """Bring the checksums of a complete run up to date, and let others read."""
        if (self._run / layout.COMPLETE).exists():
            write_complete(self._run)
        self.close()

    def close(self) -> None:
        """Let others read; what is missing is done by the next one."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def readings_folder(run: Path, fingerprint: str) -> Path:
    """Where a checkpoint's log-probabilities lie."""
    return run / layout.LOGPROBS / layout.source_name(fingerprint)


def list_readers(run: Path) -> tuple[CheckpointInfo, ...]:
    """The checkpoints that read the run, the sampling one included if it did."""
    files = sorted((run / layout.LOGPROBS).glob(f"*/{_CHECKPOINT}"))
    return tuple(_read_checkpoint(file) for file in files)


def read_readings(
    run: Path, fingerprint: str, part: str, row_group: int, rollouts: Sequence[Rollout]
) -> tuple[Reading, ...] | None:
    """A checkpoint's reading of one group; None if it did not read the part.

    Raises:
        FormatError: The file is damaged, or belongs to other rollouts.
    """
    path = readings_folder(run, fingerprint) / f"{part}.parquet"
    if not path.exists():
        return None
    rows = read_row_group(path, row_group).to_pylist()
    readings = tuple(
        Reading(tuple(row["logprobs"]), None if row["entropy"] is None else tuple(row["entropy"]))
        for row in rows
    )
    fits = [(key_of(row), row["sample"]) for row in rows] == [(r.key, r.sample) for r in rollouts]
    if not fits or any(
        len(reading.logprobs) != len(rollout.completion_ids)
        for reading, rollout in zip(readings, rollouts, strict=True)
    ):
        raise FormatError(f"{path} belongs to other rollouts; remove it and read the run again")
    return readings


def _lacks(path: Path, wanted: Sequence[dict[str, Any]]) -> bool:
    """Whether a file of states lacks some of the groups (rows of the index)."""
    if not path.exists():
        return bool(wanted)
    for row in wanted:
        states = read_states(path, row["first_row"], len(row["lengths"]))
        if states.offsets.diff().tolist() != row["lengths"]:
            return True
    return False


def _read_checkpoint(file: Path) -> CheckpointInfo:
    try:
        return checkpoint_from(json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise FormatError(f"{file} is damaged ({error}); read the run again") from error


def _check(rollouts: Sequence[Rollout], readings: Sequence[Reading]) -> None:
    if len(rollouts) != len(readings):
        raise ShapeError(f"{len(readings)} readings were given for {len(rollouts)} rollouts")
    for rollout, reading in zip(rollouts, readings, strict=True):
        n_tokens = len(rollout.completion_ids)
        counts = {len(reading.logprobs), len(reading.entropy or reading.logprobs)}
        if counts != {n_tokens}:
            name = f"{rollout.problem_id}/{rollout.group}/{rollout.sample}"
            raise ShapeError(
                f"reading of rollout {name}: got {sorted(counts)} values for {n_tokens} tokens; "
                "pass the completion only"
            )


def _table(group: RolloutGroup, readings: Sequence[Reading]) -> pa.Table:
    rows = [
        {
            "global_step": rollout.global_step,
            "problem_id": rollout.problem_id,
            "group": rollout.group,
            "sample": rollout.sample,
            "logprobs": reading.logprobs,
            "entropy": reading.entropy,
        }
        for rollout, reading in zip(group.rollouts, readings, strict=True)
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)
