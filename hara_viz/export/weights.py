"""Per-token weights and advantages for a trainer, aligned to the token ids that were sampled.

One row per rollout. `weights[t]`, `advantages[t]` and `novelty[t]` belong to `completion_ids[t]`,
and are bit for bit what `hara_viz.credit` gives: 1 is an untouched weight, 0 stands where the
policy did not sample (`sampled_mask`). Null: no credit could be computed, and `note` says why.
Novelty alone is null where there was nothing to compare with (a rollout alone in its outcome);
its weights are 1, as a trainer gets them.
Ids whose `tokens_source` is "retokenised" were cut again from text: check them before training.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from torch import Tensor

from hara_viz.backend.credit import GroupCredit, kept_or_computed
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.export.origin import METADATA_KEY, Origin, layer_of, origin_of
from hara_viz.export.place import check_place, new_file
from hara_viz.export.sheets import MADE_BY
from hara_viz.store import Run
from hara_viz.store.text_json import storable
from hara_viz.types import GroupKey, Progress, Report, Rollout, ignore_progress

_INT32S, _FLOAT32S = pa.list_(pa.int32()), pa.list_(pa.float32())

WEIGHTS = pa.schema(
    [
        pa.field("global_step", pa.int64()),
        pa.field("problem_id", pa.string(), nullable=False),
        pa.field("source_id", pa.string()),
        pa.field("group", pa.int32(), nullable=False),
        pa.field("sample", pa.int32(), nullable=False),
        pa.field("prompt_ids", _INT32S),
        pa.field("completion_ids", _INT32S, nullable=False),
        pa.field("sampled_mask", pa.list_(pa.bool_()), nullable=False),
        pa.field("weights", _FLOAT32S),
        pa.field("advantages", _FLOAT32S),
        pa.field("novelty", _FLOAT32S),
        pa.field("baseline", pa.float32()),
        pa.field("reward", pa.float64()),
        pa.field("tokens_source", pa.string(), nullable=False),
        pa.field("note", pa.string()),
    ]
)
"""Columns of the export; JSONL has the same keys and `made_by`."""

SUFFIXES = (".parquet", ".jsonl")


def export_weights(
    run: Run,
    out: Path,
    config: CreditConfig,
    *,
    layer: int | None = None,
    keys: Sequence[GroupKey] | None = None,
    force: bool = False,
    report: Report = ignore_progress,
) -> int:
    """Write the weights of a run; credit that the run keeps is read, the rest is computed.

    Args:
        run: an open run.
        out: a .parquet or .jsonl file, as its name says.
        config: of the credit.
        layer: whose states; None: the highest kept.
        keys: only these groups; None: all.
        force: replace a file that is there.
        report: hears of progress in groups.

    Returns:
        The number of rollouts without weights.

    Raises:
        InvalidInputError: the name, the config, or no group allows credit; nothing is written.
    """
    check_place(out, force=force, suffixes=SUFFIXES)
    keys = run.keys() if keys is None else keys
    layer = layer_of(run, config, layer)
    origin = origin_of(run, config, layer)
    n_rows = n_missing = 0
    rows: list[dict[str, Any]] = []
    with new_file(out, force=force) as path, ExitStack() as stack:
        write = _writer(path, out.suffix, origin, stack)
        for done, key in enumerate(keys):
            report(Progress(stage="weights", done=done, total=len(keys), unit="groups"))
            rows = weight_rows(run, key, config, layer)
            n_rows += len(rows)
            n_missing += sum(row["weights"] is None for row in rows)
            write(rows)
        report(Progress(stage="weights", done=len(keys), total=len(keys), unit="groups"))
        if n_rows == n_missing:
            note = rows[0]["note"] if n_rows else f"{run.name} holds no group"
            raise InvalidInputError(f"no rollout has weights to export: {note}")
    return n_missing


def weight_rows(
    run: Run, key: GroupKey, config: CreditConfig, layer: int | None
) -> list[dict[str, Any]]:
    """The rows of one group, in the order of its samples."""
    try:
        found = kept_or_computed(run, key, config, layer)
    except InvalidInputError as error:
        rollouts = run.load_group(key).rollouts
        return [{**_head(rollout), **_unknown(str(error))} for rollout in rollouts]
    return rows_of(found)


def rows_of(found: GroupCredit) -> list[dict[str, Any]]:
    """The rows of a group whose credit is at hand."""
    credit = found.credit
    notes = " ".join(note for record in credit.diagnostics for note in record.notes) or None
    return [
        {
            **_head(rollout),
            "weights": _array(found.of_row(credit.weights, row)),
            "advantages": _array(found.of_row(credit.advantages, row)),
            "novelty": _novelty(found, row),
            "baseline": float(credit.baseline[row]),
            "note": notes,
        }
        for row, rollout in enumerate(found.group.rollouts)
    ]


def weights_bytes(rows: Sequence[dict[str, Any]], origin: Origin, suffix: str) -> bytes:
    """Rows as a file in memory, for a download; `suffix` is one of SUFFIXES."""
    if suffix == ".jsonl":
        return "".join(_line(row, origin) for row in rows).encode()
    sink = pa.BufferOutputStream()
    table = _table(rows)
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: origin.as_json}), sink)
    return sink.getvalue().to_pybytes()


def _writer(
    path: Path, suffix: str, origin: Origin, stack: ExitStack
) -> Callable[[Sequence[dict[str, Any]]], None]:
    if suffix == ".jsonl":
        file = stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
        return lambda rows: file.writelines(_line(row, origin) for row in rows)
    schema = WEIGHTS.with_metadata({METADATA_KEY: origin.as_json})
    writer = stack.enter_context(pq.ParquetWriter(path, schema))
    return lambda rows: writer.write_table(_table(rows).cast(schema))  # a group is a row group


def _table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=WEIGHTS)


def _line(row: dict[str, Any], origin: Origin) -> str:
    plain = {name: _jsonable(row[name]) for name in WEIGHTS.names}
    return json.dumps({**plain, MADE_BY: origin.line}, ensure_ascii=True, allow_nan=False) + "\n"


def _jsonable(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        # The shortest digits that give the same float32 again.
        return [float(str(number)) for number in value]
    return value


def _head(rollout: Rollout) -> dict[str, Any]:
    known = rollout.reward is not None and bool(np.isfinite(rollout.reward))
    return {
        "global_step": rollout.global_step,
        "problem_id": rollout.problem_id,
        "source_id": None if rollout.source_id is None else storable(rollout.source_id),
        "group": rollout.group,
        "sample": rollout.sample,
        "prompt_ids": None if rollout.prompt_ids is None else list(rollout.prompt_ids),
        "completion_ids": list(rollout.completion_ids),
        "sampled_mask": list(rollout.sampled_mask or (True,) * len(rollout.completion_ids)),
        "reward": rollout.reward if known else None,
        "tokens_source": str(rollout.tokens_source),
    }


def _unknown(why: str) -> dict[str, Any]:
    return {"weights": None, "advantages": None, "novelty": None, "baseline": None, "note": why}


def _novelty(found: GroupCredit, row: int) -> np.ndarray | None:
    novelty = found.of_row(found.credit.novelty, row)
    return _array(novelty) if found.credit.knows_novelty(row, novelty) else None


def _array(values: Tensor) -> np.ndarray:
    return values.float().cpu().numpy()
