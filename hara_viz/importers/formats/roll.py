"""ROLL (`rollout_dump_data.step_12.jsonl`): one line a file, an object of parallel lists.

Whether `id` names a prompt or a sample is not said, so groups are equal prompts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hara_viz.importers.foreign import (
    ForeignRollout,
    Format,
    Grouping,
    Place,
    PromptKind,
    Record,
    UnusableRowError,
)
from hara_viz.importers.values import (
    gold,
    label,
    number,
    parsed,
    step_in,
    text_or_messages,
    whole,
)


def recognises(record: Record, place: Place) -> bool:
    """Responses and scores as lists."""
    return all(isinstance(record.get(name), list) for name in ("responses", "scores"))


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """The rollouts of a file."""
    n_rows = len(record["responses"])
    columns = {name: values for name, values in record.items() if isinstance(values, list)}
    uneven = [name for name, values in columns.items() if len(values) != n_rows]
    if uneven:
        raise UnusableRowError("columns of unequal length", f"responses and {uneven[0]}")
    return [_rollout({n: v[row] for n, v in columns.items()}, place) for row in range(n_rows)]


def _rollout(row: Record, place: Place) -> ForeignRollout:
    step = whole(row.get("global_step"), "global_step")
    return ForeignRollout(
        prompt=text_or_messages(_prompt(row), "prompt"),
        prompt_kind=PromptKind.STRIPPED,
        completion=text_or_messages(row.get("responses"), "responses"),
        global_step=step_in(place.path.name) if step is None else step,
        source_id=label(row.get("id")),
        gold=gold(row.get("ground_truth")),
        reward=number(row.get("scores"), "scores"),
    )


def _prompt(row: Record) -> Any:
    """The chat turns, where they are there; they may stand as JSON in a text."""
    turns = parsed(row.get("messages"))
    return turns if isinstance(turns, list) and turns else row.get("prompt")


FORMAT = Format(
    name="roll",
    label="ROLL batches",
    recognises=recognises,
    read=read,
    grouping=Grouping.PROMPTS,
    takes=lambda path: path.suffix == ".jsonl",
)
