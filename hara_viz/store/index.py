"""`groups.parquet`: one row per group, all that lists and charts of a run need.

It is derived: whatever it lacks (a part committed just before a kill) is read from the parts
themselves, and a damaged one is rebuilt. Outcomes are not in it, since the threshold may change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hara_viz.errors import FormatError, MissingInputError
from hara_viz.store import layout
from hara_viz.store.lock import turn
from hara_viz.store.parquet import read_metadata, read_table, write_tables
from hara_viz.store.rewards import latest_version, read_rewards, version_parts
from hara_viz.store.schema import KEY_FIELDS, iterate_groups, table_to_rollouts
from hara_viz.store.text_json import storable
from hara_viz.types import Finish, RolloutGroup

_HEAD_LENGTH = 160
_LOCK = ".groups.lock"
_VERSION_KEY = "hara_viz.rewards"

SCHEMA = pa.schema(
    [
        *KEY_FIELDS,
        pa.field("source_id", pa.string()),
        pa.field("split", pa.string()),
        pa.field("prompt_head", pa.string()),
        pa.field("gold", pa.string()),
        pa.field("part", pa.string()),
        pa.field("row_group", pa.int32()),
        pa.field("first_row", pa.int64()),  # of the group, within its part
        pa.field("samples", pa.list_(pa.int32())),
        pa.field("rewards", pa.list_(pa.float64())),  # null or NaN: unscored
        pa.field("lengths", pa.list_(pa.int32())),  # tokens of each completion
        pa.field("n_truncated", pa.int32()),
        pa.field("n_answered", pa.int32()),
        pa.field("mean_novelty", pa.float64()),  # null: no credit computed yet
        pa.field("credit", pa.string()),  # fingerprint of the credit that mean_novelty is of
    ]
)
"""Columns of `groups.parquet`."""


def summarise(groups: Sequence[RolloutGroup], part: str) -> pa.Table:
    """The rows of a part's groups, in order."""
    rows: list[dict[str, Any]] = []
    first_row = 0
    for number, group in enumerate(groups):
        rows.append(_summary(group, part, number, first_row))
        first_row += len(group)
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def read_index(run: Path, at_hand: pa.Table | None = None) -> pa.Table:
    """The summary of a run as it stands: all its parts, the latest rewards version.

    Parts that it lists but that are gone stay listed; loading their groups names them. `at_hand`
    are rows of a part just written, which then need not be read back.

    Raises:
        FormatError: A part that is not listed yet is damaged.
    """
    table, applied = _read_file(run)
    fresh = SCHEMA.empty_table() if at_hand is None else at_hand
    listed = set(pa.concat_tables([table, fresh]).column("part").unique().to_pylist())
    unlisted = [p for p in layout.list_parts(run / layout.ROLLOUTS, ".parquet") if p not in listed]
    fresh = pa.concat_tables([fresh, *(_summarise_file(run, part) for part in unlisted)])
    version = latest_version(run)
    if version is not None:
        fresh = _with_rewards(fresh, run, version)
        if applied != _stamp(run, version):
            table = _with_rewards(table, run, version)
    whole = pa.concat_tables([table, fresh])
    return _in_order(whole) if unlisted else whole


def update_index(
    run: Path,
    change: Callable[[pa.Table], pa.Table] = lambda table: table,
    *,
    at_hand: pa.Table | None = None,
) -> None:
    """Bring `groups.parquet` up to date, with a change of one's own; others wait meanwhile."""
    with turn(run / _LOCK):
        table = change(read_index(run, at_hand))
        version = latest_version(run)
        metadata = {_VERSION_KEY: _stamp(run, version)} if version else {}
        write_tables(run / layout.INDEX, [table], metadata)


def with_novelty(
    table: pa.Table, part: str, means: Sequence[float | None], fingerprint: str
) -> pa.Table:
    """The index with the mean novelty of each group of a part."""
    rows = zip(table.column("part").to_pylist(), table.column("row_group").to_pylist(), strict=True)
    novelty = table.column("mean_novelty").to_pylist()
    credit = table.column("credit").to_pylist()
    for position, (of_part, row_group) in enumerate(rows):
        if of_part == part:
            novelty[position] = means[row_group]
            credit[position] = fingerprint
    table = _replace(table, "mean_novelty", novelty)
    return _replace(table, "credit", credit)


def _summary(group: RolloutGroup, part: str, row_group: int, first_row: int) -> dict[str, Any]:
    first = group.rollouts[0]
    return {
        "global_step": first.global_step,
        "problem_id": storable(first.problem_id),
        "group": first.group,
        "source_id": _text(first.source_id),
        "split": _text(first.split),
        "prompt_head": _head(group),
        "gold": _text(first.gold),
        "part": part,
        "row_group": row_group,
        "first_row": first_row,
        "samples": [r.sample for r in group.rollouts],
        "rewards": [r.reward for r in group.rollouts],
        "lengths": [len(r.completion_ids) for r in group.rollouts],
        "n_truncated": sum(r.finish is Finish.LENGTH for r in group.rollouts),
        "n_answered": sum(r.extracted_answer is not None for r in group.rollouts),
    }


def _head(group: RolloutGroup) -> str:
    """The beginning of the question, for lists: the last turn of the user, else of the prompt."""
    first = group.rollouts[0]
    turns = [m.content for m in first.prompt_messages or () if m.role == "user"]
    text = turns[-1] if turns else first.prompt_text
    return storable(" ".join(text[: 4 * _HEAD_LENGTH].split())[:_HEAD_LENGTH])


def _in_order(table: pa.Table) -> pa.Table:
    """Rows in the order of the parts."""
    numbers = [layout.part_number(part) for part in table.column("part").to_pylist()]
    return table.take(pa.array(sorted(range(len(numbers)), key=numbers.__getitem__), pa.int64()))


def _stamp(run: Path, version: str) -> str:
    """Names the state of a rewards version: it gains parts as the run grows."""
    return f"{version}/{len(version_parts(run, version))}"


def _text(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _read_file(run: Path) -> tuple[pa.Table, str | None]:
    """`groups.parquet` and the stamp of the rewards in it; empty if it is missing or damaged."""
    path = run / layout.INDEX
    try:
        table, metadata = read_table(path), read_metadata(path)
        return table.select(SCHEMA.names).cast(SCHEMA), metadata.get(_VERSION_KEY)
    except (MissingInputError, FormatError, KeyError, pa.ArrowException):
        return SCHEMA.empty_table(), None  # it is rebuilt from the parts


def _summarise_file(run: Path, part: str) -> pa.Table:
    path = layout.rollouts_path(run, part)
    rollouts = table_to_rollouts(read_table(path), str(path))
    return summarise(list(iterate_groups(rollouts)), part)


def _with_rewards(table: pa.Table, run: Path, version: str) -> pa.Table:
    """The table with the rewards of a later version, where that has the part."""
    rewards = table.column("rewards").to_pylist()
    answered = table.column("n_answered").to_pylist()
    places = table.select(["part", "first_row"]).to_pylist()
    verdicts: dict[str, list[dict[str, Any]]] = {}
    for row, place in enumerate(places):
        part, first = place["part"], place["first_row"]
        if part not in verdicts:
            verdicts[part] = read_rewards(run, version, part)
        own = verdicts[part][first : first + len(rewards[row])]
        if own:
            rewards[row] = [verdict["reward"] for verdict in own]
            answered[row] = sum(verdict["extracted_answer"] is not None for verdict in own)
    return _replace(_replace(table, "rewards", rewards), "n_answered", answered)


def _replace(table: pa.Table, column: str, values: list[Any]) -> pa.Table:
    field = SCHEMA.field(column)
    position = SCHEMA.get_field_index(column)
    return table.set_column(position, field, pa.array(values, type=field.type))
