"""Reading a run: `open_run(path)`, for the backend and for notebooks alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hara_viz.errors import FormatError, MissingInputError, SchemaError
from hara_viz.store import layout
from hara_viz.store.annotations import Annotations, read_annotations
from hara_viz.store.completion import find_damage
from hara_viz.store.header import read_header
from hara_viz.store.index import read_index
from hara_viz.store.parquet import read_row_group, read_table
from hara_viz.store.readings import Reading, list_readers, read_readings
from hara_viz.store.rewards import latest_version, read_rewards, version_parts
from hara_viz.store.schema import iterate_groups, judge_again, key_of, table_to_rollouts
from hara_viz.store.states import read_states, states_folder, stored_layers
from hara_viz.store.summaries import override_rewards, to_frame
from hara_viz.types import (
    CheckpointInfo,
    GroupKey,
    HiddenStates,
    Rollout,
    RolloutGroup,
    RunInfo,
)

if TYPE_CHECKING:
    import pandas as pd


def open_run(path: str | Path) -> Run:
    """Open a run for reading; needs no model, GPU or network.

    `run.summaries()` is a pandas table of the groups, `run.load_group(key)` all that is known of
    one, `run.load_states(key, layer)` its hidden states, memory-mapped. A run that still grows
    can be opened; open it again to see more.

    Raises:
        MissingInputError: There is no run at `path`.
        SchemaError: A newer version wrote it.
        FormatError: Its header is damaged.
    """
    return Run(Path(path))


class Run:
    """A run on disk, as it stood when it was opened. Attributes: `path`, `name`, `info`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.resolve().name
        self.info: RunInfo = read_header(path)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    @property
    def complete(self) -> bool:
        """Whether the run was finished; False while it grows or after it was broken off."""
        return (self.path / layout.COMPLETE).exists()

    @property
    def layers(self) -> tuple[int, ...]:
        """Layers whose states are stored, as read by the run's own checkpoint (`source_of`)."""
        return self.layers_of(None)

    def layers_of(self, source: str | None) -> tuple[int, ...]:
        """Layers whose states are stored, as read by the checkpoint of this fingerprint."""
        return stored_layers(self.path, self.source_of(source))

    def source_of(self, source: str | None) -> str | None:
        """Under whose name states are stored: a fingerprint, or None for the run's own checkpoint.

        The beginning of a fingerprint is enough, at least 8 digits.

        A run that names no weights (an imported one knows a tokenizer at most) has no checkpoint
        of its own: where nothing is asked for and no such states are stored, the only checkpoint
        that has read it takes that place.
        """
        own = self.info.checkpoint
        if source is None:
            nameless = own is None or not (own.fingerprint or stored_layers(self.path, None))
            only = self.readers if nameless else ()
            return only[0].fingerprint if len(only) == 1 else None
        if len(source) < 8:
            return source
        if own is not None and own.fingerprint.startswith(source):
            return None
        known = (reader.fingerprint for reader in self.readers)
        return next((found for found in known if found.startswith(source)), source)

    @property
    def readers(self) -> tuple[CheckpointInfo, ...]:
        """Checkpoints whose log-probabilities of the completions are stored."""
        return list_readers(self.path)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts, in order."""
        return layout.list_parts(self.path / layout.ROLLOUTS, ".parquet")

    @cached_property
    def rewards_version(self) -> str | None:
        """The version that overrides the rewards of the rollouts; None: as sampled."""
        return latest_version(self.path)

    @cached_property
    def annotations(self) -> Annotations:
        """What people said about the run."""
        return read_annotations(self.path)

    def summaries(self) -> pd.DataFrame:
        """One row per group: counts, rewards, outcomes, lengths; latest rewards and overrides."""
        return to_frame(self._rows, self.info.success_threshold)

    def keys(self) -> tuple[GroupKey, ...]:
        """Keys of all groups, in the order of the parts."""
        return tuple(self._places)

    def load_group(self, key: GroupKey) -> RolloutGroup:
        """A group with the latest rewards and the overridden verdicts applied.

        Raises:
            MissingInputError: The run has no such group, or its part is gone.
            FormatError: Its part is damaged, or is not the one that was summarised.
        """
        place = self.place(key)
        path = layout.rollouts_path(self.path, place["part"])
        rollouts = table_to_rollouts(read_row_group(path, place["row_group"]), str(path))
        if {rollout.key for rollout in rollouts} != {key}:
            raise FormatError(
                f"{path}, row group {place['row_group']}, does not hold the group {tuple(key)} "
                "alone; remove groups.parquet if the file was replaced, it is rebuilt"
            )
        rollouts = self._read_by_itself(rollouts, place["part"], place["row_group"])
        return RolloutGroup(self._judged(rollouts, place["part"], place["first_row"]))

    def load_part(self, part: str) -> tuple[RolloutGroup, ...]:
        """All groups of a part, in order; like `load_group`."""
        layout.part_number(part)
        path = layout.rollouts_path(self.path, part)
        rollouts = self._judged(table_to_rollouts(read_table(path), str(path)), part, 0)
        return tuple(
            RolloutGroup(self._read_by_itself(group.rollouts, part, row_group))
            for row_group, group in enumerate(iterate_groups(rollouts))
        )

    def load_states(
        self, key: GroupKey, layer: int, *, source: str | None = None
    ) -> HiddenStates | None:
        """States of a group's rollouts, memory-mapped, in the order of `load_group`.

        Args:
            key: The group.
            layer: Non-negative layer, one of `layers`.
            source: Fingerprint of the checkpoint that read the completions; None: the run's own
                (`source_of`).

        Returns:
            None if no states of the group are stored. A rollout whose states were not kept has no
            rows.
        """
        place = self.place(key)
        folder = states_folder(self.path, layer, self.source_of(source))
        path = folder / f"{place['part']}.safetensors"
        if not path.exists():
            return None
        states = read_states(path, place["first_row"], len(place["samples"]))
        counts = states.offsets.diff().tolist()
        wrong = [(c, t) for c, t in zip(counts, place["lengths"], strict=True) if c not in (0, t)]
        if wrong or states.layer != layer:
            raise SchemaError(
                f"{path} does not belong to the rollouts of the same name; remove it and run "
                "`hara-viz states` again"
            )
        return states if len(states.states) or not any(place["lengths"]) else None

    def load_readings(self, key: GroupKey, source: str) -> tuple[Reading, ...] | None:
        """What a checkpoint, by its fingerprint, says of a group; None if it did not read it.

        The log-ratio to a reference is logprobs (raw) minus the reference's.
        """
        place = self.place(key)
        rollouts = self.load_group(key).rollouts
        return read_readings(self.path, source, place["part"], place["row_group"], rollouts)

    def rewards_of_parts(self) -> dict[str, list[float | None]]:
        """The rewards that hold now, by part, in the order of its rows."""
        rewards: dict[str, list[float | None]] = {}
        for row in self._rows:
            rewards.setdefault(row["part"], []).extend(row["rewards"])
        return rewards

    def warnings(self) -> tuple[str, ...]:
        """What a user should know about the run's condition, one sentence each; quick."""
        found = [f"{self.name}: {damage}" for damage in find_damage(self.path, checksums=False)]
        version = self.rewards_version
        if version is not None:
            behind = set(self.parts) - set(version_parts(self.path, version))
            if behind:
                found.append(
                    f"{self.name}: {len(behind)} part(s) are newer than the rewards {version} and "
                    "keep the rewards they were sampled with; run `hara-viz score` again"
                )
        if self.annotations.n_unreadable:
            count = self.annotations.n_unreadable
            found.append(f"{self.name}: {count} line(s) of annotations.jsonl cannot be read")
        return tuple(found)

    def verify(self) -> tuple[str, ...]:
        """Compare every byte of a complete run with its checksums; one sentence per damage."""
        return find_damage(self.path, checksums=True)

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        """The index, with the overridden verdicts."""
        return override_rewards(read_index(self.path).to_pylist(), self.annotations)

    @cached_property
    def _places(self) -> dict[GroupKey, dict[str, Any]]:
        places: dict[GroupKey, dict[str, Any]] = {}
        for row in self._rows:
            layout.part_number(row["part"])  # a name from a file, on its way into a path
            places.setdefault(key_of(row), row)
        return places

    def place(self, key: GroupKey) -> dict[str, Any]:
        """The row of a group in `groups.parquet`: part, row group, first row, samples, rewards."""
        try:
            return self._places[key]
        except KeyError:
            raise MissingInputError(
                f"{self.path} has no group {tuple(key)}; `keys()` lists those it has"
            ) from None

    def _read_by_itself(
        self, rollouts: tuple[Rollout, ...], part: str, row_group: int
    ) -> tuple[Rollout, ...]:
        """Rollouts that came without log-probabilities, with those of the run's checkpoint."""
        own = self.info.checkpoint
        source = own.fingerprint if own is not None and own.fingerprint else self.source_of(None)
        if source is None or all(r.logprobs is not None for r in rollouts):
            return rollouts
        readings = read_readings(self.path, source, part, row_group, rollouts)
        if readings is None:
            return rollouts
        return tuple(
            rollout
            if rollout.logprobs is not None
            else replace(
                rollout,
                logprobs=reading.logprobs,
                logprobs_kind="raw",
                entropy=rollout.entropy or reading.entropy,
            )
            for rollout, reading in zip(rollouts, readings, strict=True)
        )

    def _judged(
        self, rollouts: Sequence[Rollout], part: str, first_row: int
    ) -> tuple[Rollout, ...]:
        """Rollouts with the verdicts that hold now."""
        version = self.rewards_version
        rows = read_rewards(self.path, version, part) if version else []
        judged: Iterable[Rollout] = rollouts
        if rows:
            own = rows[first_row : first_row + len(rollouts)]
            judged = [judge_again(r, row) for r, row in zip(rollouts, own, strict=True)]
        overridden = self.annotations.verdicts()
        return tuple(
            rollout
            if (verdict := overridden.get((rollout.key, rollout.sample))) is None
            else replace(
                rollout,
                reward=verdict.reward,
                reward_reason=f"overridden: {verdict.text}" if verdict.text else "overridden",
            )
            for rollout in judged
        )
