"""The credit cache: `credit/<fingerprint>/part-*`, parts as those of the rollouts.

Numbers per token are lists in parquet (one row per rollout, one row group per group). Barycenters
and plans are in safetensors beside it, which is written first: the parquet file is the commit.
Plans are kept in half precision (2 K bytes a token, far below the states they came from) rather
than rebuilt from potentials, so that those of every solver and reference can be shown, and without
the states. The rewards that went in are kept too: a verdict that changed voids its group alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import torch

from hara_viz.credit import Credit, CreditConfig
from hara_viz.errors import FormatError, ShapeError
from hara_viz.store import layout
from hara_viz.store.card import write_card
from hara_viz.store.credit_info import (
    CreditInfo,
    credit_folder,
    describe_credit,
    info_path,
    info_to_json,
)
from hara_viz.store.credit_tensors import read_outcomes, write_outcomes
from hara_viz.store.files import remove_leftovers, write_text
from hara_viz.store.index import update_index, with_novelty
from hara_viz.store.lock import FileLock
from hara_viz.store.parquet import read_row_group, read_table, write_tables
from hara_viz.store.reader import Run
from hara_viz.store.schema import KEY_FIELDS, key_of
from hara_viz.types import GroupKey, RolloutGroup

_FLOAT32S = pa.list_(pa.float32())
_PER_TOKEN = ("novelty_feature", "novelty_structure", "weights", "advantages")

SCHEMA = pa.schema(
    [
        *KEY_FIELDS,
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("reward", pa.float64()),  # that went in; null or NaN: unscored
        pa.field("baseline", pa.float32()),  # A_r; null: the group has no credit (no states kept)
        *(pa.field(name, _FLOAT32S) for name in _PER_TOKEN),
    ]
)
"""Columns of `credit/<fingerprint>/part-*.parquet`: rows as in the rollouts part."""


class CreditWriter:
    """Keeps the credit of a run, part by part; takes up where it was broken off.

    Use it as a context manager.

    Args:
        run: The run, opened just now: its rewards and verdicts are those that count.
        config: How credit is assigned.
        layer: Whose states; None for signals that read none.
        source: Fingerprint of the checkpoint whose states are used; None: the run's own.

    Raises:
        MissingInputError: The run has no states of the layer.
        StoreError: Another process computes the same, or the disk failed.
    """

    def __init__(
        self, run: Run, config: CreditConfig, layer: int | None, *, source: str | None = None
    ) -> None:
        self._run = run
        self.info: CreditInfo = describe_credit(run, config, layer, source=source)
        self.fingerprint: str = self.info.fingerprint
        self._folder = credit_folder(run.path, self.fingerprint)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(
            self._folder / layout.LOCK, f"credit {self.fingerprint} of {run.path}"
        )
        try:
            remove_leftovers(self._folder)
            write_text(info_path(run.path, self.fingerprint), info_to_json(self.info))
        except BaseException:
            self._lock.release()
            raise

    @property
    def missing_parts(self) -> tuple[str, ...]:
        """Parts of the run without credit, or with credit from other rewards than hold now."""
        kept = set(layout.list_parts(self._folder, ".parquet"))
        rewards = self._run.rewards_of_parts()
        return tuple(
            part
            for part in self._run.parts
            if part not in kept or not _same_rewards(self._folder, part, rewards.get(part, []))
        )

    def write_part(
        self, part: str, groups: Sequence[RolloutGroup], credits: Sequence[Credit | None]
    ) -> None:
        """Keep the credit of a part.

        Args:
            part: Its name.
            groups: Its groups, as `Run.load_part` gives them.
            credits: One record per group, computed for that group alone: packed over all tokens of
                its completions. None: it has none (its states are not kept).

        Raises:
            ShapeError: A record does not fit its group.
        """
        layout.part_number(part)
        if len(groups) != len(credits):
            raise ShapeError(f"{part}: {len(credits)} records of credit for {len(groups)} groups")
        pairs = list(zip(groups, credits, strict=True))
        tables = [_table(group, credit) for group, credit in pairs]
        write_outcomes(self._folder / f"{part}.safetensors", credits)
        write_tables(self._folder / f"{part}.parquet", tables)
        means = [_mean_novelty(group, credit) for group, credit in pairs]
        update_index(
            self._run.path, lambda table: with_novelty(table, part, means, self.fingerprint)
        )

    def finish(self) -> None:
        """List the credit in the run's card, and let others write."""
        write_card(self._run.path, self._run.info)
        self.close()

    def close(self) -> None:
        """Let others write; what is missing is done by the next one."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def load_credit(run: Run, fingerprint: str, key: GroupKey) -> Credit | None:
    """The kept credit of one group, as it was computed (plans to half precision).

    Returns:
        None if it is not kept, or was computed from rewards that no longer hold.

    Raises:
        FormatError: A file of the cache is damaged; removing the folder named is safe.
    """
    place = run.place(key)
    part, row_group = place["part"], place["row_group"]
    folder = credit_folder(run.path, fingerprint)
    path = folder / f"{part}.parquet"
    if not path.exists():
        return None
    rows = read_row_group(path, row_group).to_pylist()
    if [(key_of(row), row["sample"]) for row in rows] != [(key, s) for s in place["samples"]]:
        raise FormatError(f"{path} belongs to other rollouts; remove {folder} and compute it again")
    if any(row["baseline"] is None for row in rows):
        return None
    if _plain([row["reward"] for row in rows]) != _plain(place["rewards"]):
        return None
    packed = {name: torch.tensor([v for row in rows for v in row[name]]) for name in _PER_TOKEN}
    outcomes, diagnostics = read_outcomes(folder / f"{part}.safetensors", row_group)
    return Credit(
        baseline=torch.tensor([row["baseline"] for row in rows]),
        novelty=packed["novelty_feature"] + packed["novelty_structure"],
        outcomes=outcomes,
        diagnostics=diagnostics,
        **packed,
    )


def _table(group: RolloutGroup, credit: Credit | None) -> pa.Table:
    lengths = [len(rollout.completion_ids) for rollout in group.rollouts]
    if credit is not None and credit.weights.shape != (sum(lengths),):
        raise ShapeError(
            f"credit of group {tuple(group.key)} has shape {tuple(credit.weights.shape)}, its "
            f"completions have {sum(lengths)} tokens; pass one packed record per group"
        )
    rows: list[dict[str, Any]] = []
    start = 0
    for b, (rollout, length) in enumerate(zip(group.rollouts, lengths, strict=True)):
        row: dict[str, Any] = {
            "global_step": rollout.global_step,
            "problem_id": rollout.problem_id,
            "group": rollout.group,
            "sample": rollout.sample,
            "reward": rollout.reward,
        }
        if credit is not None:
            row["baseline"] = float(credit.baseline[b])
            for name in _PER_TOKEN:
                row[name] = getattr(credit, name)[start : start + length].tolist()
        rows.append(row)
        start += length
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _mean_novelty(group: RolloutGroup, credit: Credit | None) -> float | None:
    """Over the tokens that the policy sampled in rollouts whose novelty is known; None if there are
    none.
    """
    if credit is None:
        return None
    parts = credit.novelty.split([len(r.completion_ids) for r in group.rollouts])
    known = [
        part[torch.tensor(r.sampled_mask or (True,) * len(part), dtype=torch.bool)]
        for row, (r, part) in enumerate(zip(group.rollouts, parts, strict=True))
        if r.reward is not None and r.reward == r.reward and credit.knows_novelty(row, part)
    ]
    own = torch.cat(known) if known else credit.novelty[:0]
    return float(own.mean()) if len(own) else None


def _same_rewards(folder: Path, part: str, now: Sequence[float | None]) -> bool:
    then = read_table(folder / f"{part}.parquet", ["reward"]).column("reward").to_pylist()
    return _plain(then) == _plain(now)


def _plain(rewards: Sequence[float | None]) -> list[float | None]:
    """Rewards that can be compared: unscored is None, whether it was None or NaN."""
    return [None if reward is None or reward != reward else reward for reward in rewards]
