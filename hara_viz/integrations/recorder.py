"""What the trainer used, as a run on disk: whole groups, whole parts, one part a batch.

Only the main process writes. A batch is written once its first pass is over, when the coefficient
of each token is known; a killed training loses the batch in flight and nothing else.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from hara_viz.errors import InvalidInputError
from hara_viz.store import RunWriter
from hara_viz.types import HiddenStates, Rollout, RolloutGroup, RunInfo

StatesKept = Literal["all", "mixed", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What is recorded of a training, and where."""

    path: str | os.PathLike[str]
    """The run's directory. A new training refuses one that is there; a resumed one goes on."""
    states: StatesKept = "none"
    """Whose hidden states are kept: of all groups, of those with right and wrong rollouts, of
    none. Credit can be computed again, and so be checked, where they are kept."""
    series: str | None = None
    """The name of the training, for comparisons; None: the directory's."""
    gold_column: str | None = None
    """The dataset column with the gold answer; None: found by its usual names."""

    def __post_init__(self) -> None:
        if self.states not in ("all", "mixed", "none"):
            raise InvalidInputError(
                f"states is {self.states!r}; choose one of all, mixed (groups with right and "
                "wrong rollouts), none"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRow:
    """One rollout, ready to be written but for its group's number."""

    row: int
    """In the global batch."""
    rollout: Rollout
    states: tuple[Tensor, ...] | None
    """Per layer [T, D] on the CPU, in the stored dtype; None: not kept."""


class RunRecorder:
    """Writes batches into a run; on the main process only.

    Args:
        path: the run's directory.
        info: its header.
        layers: whose states come with the rows that keep them, in their order.
        n_layers: of the model: the last one is after the final norm.
        states_dtype: as for `RunWriter`.
        resume: go on with a run that exists; False refuses one.

    Raises:
        HaraError: as `RunWriter`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        info: RunInfo,
        layers: Sequence[int],
        n_layers: int,
        *,
        states_dtype: str,
        resume: bool,
    ) -> None:
        self._layers = layers
        self._n_layers = n_layers
        self._writer = RunWriter(Path(path), info, resume=resume, states_dtype=states_dtype)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="record")
        self._writing: Future[None] | None = None
        # A resumed training samples some steps a second time: their groups get further numbers.
        self._n_groups = Counter(
            (key.global_step, key.problem_id) for key in self._writer.done_keys
        )

    def write(self, rows: Callable[[], Sequence[RecordedRow]], group_size: int) -> None:
        """Write a batch as one part, while the training goes on.

        Args:
            rows: gives those of all processes, whole groups; called beside the training.
            group_size: G.

        Raises:
            StoreError: the batch before this one could not be written; a part is in the run whole,
                or not at all.
        """
        self._wait()
        self._writing = self._thread.submit(lambda: self._write(rows(), group_size))

    def finish(self) -> None:
        """Mark the run complete.

        Raises:
            StoreError: as `write`.
        """
        self._wait()
        self._writer.finish()

    def close(self) -> None:
        """Let others write; the run stays as it is, to be resumed."""
        self._thread.shutdown()
        self._writer.close()

    def _wait(self) -> None:
        if self._writing is not None:
            self._writing.result()

    def _write(self, rows: Sequence[RecordedRow], group_size: int) -> None:
        ordered = sorted(rows, key=lambda row: row.row)
        groups: list[RolloutGroup] = []
        for start in range(0, len(ordered), group_size):
            members = [row.rollout for row in ordered[start : start + group_size]]
            problem = (members[0].global_step, members[0].problem_id)
            number = self._n_groups[problem]
            self._n_groups[problem] += 1
            groups.append(
                RolloutGroup(
                    tuple(
                        replace(rollout, group=number, sample=sample, problem_id=problem[1])
                        for sample, rollout in enumerate(members)
                    )
                )
            )
        self._writer.write_part(groups, self._states(ordered))

    def _states(self, rows: Sequence[RecordedRow]) -> list[HiddenStates]:
        kept = [row.states for row in rows if row.states is not None]
        if not kept:
            return []
        lengths = [0 if row.states is None else len(row.states[0]) for row in rows]
        offsets = torch.tensor([0, *accumulate(lengths)])
        return [
            HiddenStates(
                states=torch.cat([states[number] for states in kept]),
                offsets=offsets,
                layer=layer,
                after_norm=layer == self._n_layers,
            )
            for number, layer in enumerate(self._layers)
        ]
