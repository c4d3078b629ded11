"""The schema of a run as code: columns of `rollouts/part-*.parquet`, their order and meaning.

Null means unknown, 0 means zero. Token ids are the record, text is a view of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pyarrow as pa

from hara_viz.errors import InvalidInputError, SchemaError
from hara_viz.store.text_json import escape_surrogates, numbers_to_json, storable
from hara_viz.types import (
    Finish,
    GroupKey,
    Judgement,
    Rollout,
    RolloutGroup,
    TokensSource,
    messages_from_json,
    messages_to_json,
)

SCHEMA_VERSION = 1
"""Raised when a reader of the version before would misread a run."""

_INT32S = pa.list_(pa.int32())
_FLOAT32S = pa.list_(pa.float32())


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


KEY_FIELDS = (
    pa.field("global_step", pa.int64()),
    _required("problem_id", pa.string()),
    _required("group", pa.int32()),
)

REWARD_FIELDS = (
    pa.field("reward", pa.float64()),
    pa.field("reward_parts", pa.string()),  # JSON
    pa.field("extracted_answer", pa.string()),
    pa.field("answer_start", pa.int32()),
    pa.field("answer_end", pa.int32()),
    pa.field("reward_reason", pa.string()),
)

ROLLOUTS = pa.schema(
    [
        _required("problem_id", pa.string()),
        pa.field("source_id", pa.string()),
        pa.field("global_step", pa.int64()),
        pa.field("split", pa.string()),
        _required("group", pa.int32()),
        _required("sample", pa.int32()),
        pa.field("prompt_messages", pa.string()),  # JSON
        _required("prompt_text", pa.string()),
        pa.field("prompt_ids", _INT32S),
        pa.field("gold", pa.string()),
        _required("completion_text", pa.string()),
        _required("completion_ids", _INT32S),
        pa.field("sampled_mask", pa.list_(pa.bool_())),
        pa.field("cell_start", _INT32S),
        pa.field("reasoning_step", _INT32S),
        pa.field("logprobs", _FLOAT32S),
        pa.field("logprobs_kind", pa.string()),
        pa.field("entropy", _FLOAT32S),
        *REWARD_FIELDS,
        pa.field("recorded_advantage", pa.float64()),
        pa.field("recorded_advantages", _FLOAT32S),
        pa.field("recorded_weights", _FLOAT32S),
        pa.field("recorded_coefficients", _FLOAT32S),
        pa.field("advantage_rule", pa.string()),
        _required("finish", pa.string()),
        _required("tokens_source", pa.string()),
        pa.field("error", pa.string()),
    ]
)

REWARDS = pa.schema([*KEY_FIELDS, _required("sample", pa.int32()), *REWARD_FIELDS])
"""Columns of `rewards/<version>/part-*.parquet`: rows as in the rollouts part."""


def rollout_to_row(rollout: Rollout) -> dict[str, Any]:
    """One row of `ROLLOUTS`, by column name."""
    row: dict[str, Any] = {name: getattr(rollout, name) for name in ROLLOUTS.names}
    if rollout.prompt_messages is not None:
        row["prompt_messages"] = escape_surrogates(messages_to_json(rollout.prompt_messages))
    if rollout.reward_parts is not None:
        row["reward_parts"] = numbers_to_json(rollout.reward_parts)
    return _storable_row(row)


def row_to_rollout(row: Mapping[str, Any]) -> Rollout:
    """Inverse of `rollout_to_row`; lists may be any sequences."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, (list, tuple)) else value
        for name, value in row.items()
        if name in ROLLOUTS.names
    }
    if values["prompt_messages"] is not None:
        values["prompt_messages"] = messages_from_json(values["prompt_messages"])
    if values["reward_parts"] is not None:
        values["reward_parts"] = json.loads(values["reward_parts"])
    values["finish"] = Finish(values["finish"])
    values["tokens_source"] = TokensSource(values["tokens_source"])
    return Rollout(**values)


def judge_again(rollout: Rollout, row: Mapping[str, Any]) -> Rollout:
    """The rollout with the verdict of a row of `REWARDS`.

    Raises:
        SchemaError: The row is about another rollout.
    """
    if key_of(row) != rollout.key or row["sample"] != rollout.sample:
        raise SchemaError(
            f"a verdict on {tuple(key_of(row))}/{row['sample']} stands where rollout "
            f"{tuple(rollout.key)}/{rollout.sample} is; remove the rewards version and score again"
        )
    values = {field.name: row[field.name] for field in REWARD_FIELDS}
    if values["reward_parts"] is not None:
        values["reward_parts"] = json.loads(values["reward_parts"])
    return replace(rollout, **values)


def judgement_to_row(rollout: Rollout, judgement: Judgement) -> dict[str, Any]:
    """One row of `REWARDS`: a new verdict on a stored rollout."""
    return _storable_row(
        {
            "global_step": rollout.global_step,
            "problem_id": rollout.problem_id,
            "group": rollout.group,
            "sample": rollout.sample,
            "reward": judgement.reward,
            "reward_parts": numbers_to_json(judgement.parts),
            "extracted_answer": judgement.extracted_answer,
            "answer_start": judgement.answer_start,
            "answer_end": judgement.answer_end,
            "reward_reason": judgement.reason,
        }
    )


def group_to_table(group: RolloutGroup) -> pa.Table:
    """A group as rows of `ROLLOUTS`.

    Raises:
        InvalidInputError: The samples of the group are not in rising order.
    """
    samples = [rollout.sample for rollout in group.rollouts]
    if any(a >= b for a, b in pairwise(samples)):
        raise InvalidInputError(
            f"group {tuple(group.key)} has the samples {samples}; each rollout of a group needs a "
            "sample number of its own, in rising order"
        )
    return pa.Table.from_pylist([rollout_to_row(r) for r in group.rollouts], schema=ROLLOUTS)


def table_to_rollouts(table: pa.Table, source: str) -> tuple[Rollout, ...]:
    """The rollouts of a table; `source` names it in errors.

    A column that the schema allows to be null may be missing, and further columns are ignored, so
    that other programs can write runs too.

    Raises:
        SchemaError: A required column is missing, or a value breaks the schema.
    """
    missing = [f.name for f in ROLLOUTS if not f.nullable and f.name not in table.column_names]
    if missing:
        raise SchemaError(
            f"{source} lacks the column(s) {', '.join(missing)}; a rollouts part needs them"
        )
    try:
        columns: dict[str, Sequence[Any]] = {f.name: _values(table, f) for f in ROLLOUTS}
        rows = (
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        )
        return tuple(row_to_rollout(row) for row in rows)
    except (ValueError, TypeError, KeyError, pa.ArrowException) as error:
        raise SchemaError(f"{source} breaks the schema of rollouts: {error}") from error


def iterate_groups(rollouts: Sequence[Rollout]) -> Iterator[RolloutGroup]:
    """Rows that follow each other and share a key, as groups."""
    start = 0
    for stop in range(1, len(rollouts) + 1):
        if stop == len(rollouts) or rollouts[stop].key != rollouts[start].key:
            yield RolloutGroup(tuple(rollouts[start:stop]))
            start = stop


def key_of(row: Mapping[str, Any]) -> GroupKey:
    """The group key of a row of any table of a run."""
    return GroupKey(row["global_step"], row["problem_id"], row["group"])


def _storable_row(row: dict[str, Any]) -> dict[str, Any]:
    return {n: storable(str(v)) if isinstance(v, str) else v for n, v in row.items()}


def _values(table: pa.Table, field: pa.Field) -> Sequence[Any]:
    if field.name not in table.column_names:
        return [None] * table.num_rows
    column = table.column(field.name)
    if column.null_count and not field.nullable:
        raise ValueError(f"{field.name} holds nulls")
    if column.type != field.type:
        column = column.cast(field.type)
    return _list_values(column) if pa.types.is_list(field.type) else column.to_pylist()


def _list_values(column: pa.ChunkedArray) -> list[list[Any] | None]:
    """`to_pylist` for lists of numbers, some ten times quicker: one conversion for all rows."""
    lists: list[list[Any] | None] = []
    for chunk in column.chunks:
        bounds = chunk.offsets.to_pylist()  # absolute, also in a slice of a longer array
        first = bounds[0]
        used = chunk.values.slice(first, bounds[-1] - first)
        if used.null_count:
            raise ValueError("a list holds nulls between its values")
        flat = used.to_numpy(zero_copy_only=False).tolist()
        nulls = chunk.is_null().to_pylist()
        lists.extend(
            None if null else flat[start - first : stop - first]
            for null, (start, stop) in zip(nulls, pairwise(bounds), strict=True)
        )
    return lists
