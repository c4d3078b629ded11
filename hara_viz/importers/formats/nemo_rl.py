"""NeMo-RL: `train_data_step12.jsonl`, `val_data_step12.jsonl`; every field in a list of one.

Token rows are padded and end at `input_lengths`; what was sampled says `token_loss_mask`, and the
prompt, which may hold turns of the assistant, ends at its first 1. Advantages stand at every token
of the row. Validations hold messages alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hara_viz.importers.foreign import (
    ForeignRollout,
    Format,
    Grouping,
    Place,
    Record,
    UnusableRowError,
)
from hara_viz.importers.formats.token_rows import NAN, cut_at_mask, masked
from hara_viz.importers.values import fitting, flags, ids, messages, number, numbers, step_in, whole

_RULE = "nemo-rl: as its trainer computed them"


def recognises(record: Record, place: Place) -> bool:
    """Training rows by their token columns, validations by name and content."""
    trained = {"token_ids", "token_loss_mask", "input_lengths"} <= record.keys()
    return trained or (place.path.name.startswith("val_data_step") and "content" in record)


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """The rollout of a line."""
    flat = {name: _unwrapped(value) for name, value in record.items()}
    reward = number(flat.get("rewards"), "rewards")
    step = step_in(place.path.name)
    if "token_ids" not in flat:
        turns = messages(flat.get("content"), "content")
        own = next((n for n, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
        yield ForeignRollout(
            prompt=turns[:own],
            completion=turns[own:] or None,
            global_step=step,
            split="val",
            reward=reward,
        )
        return
    yield ForeignRollout(
        **_tokens(flat), global_step=step, split="train", reward=reward, advantage_rule=_RULE
    )


def _tokens(flat: Record) -> dict[str, Any]:
    tokens = ids(flat.get("token_ids"), "token_ids")
    length = whole(flat.get("input_lengths"), "input_lengths")
    if length is None or not 0 < length <= len(tokens):
        raise UnusableRowError("input_lengths does not fit token_ids", f"{length}, {len(tokens)}")
    mask = fitting(flags(flat.get("token_loss_mask"), "token_loss_mask"), len(tokens),
                   "token_loss_mask")  # fmt: skip
    start, end = cut_at_mask((mask or ())[:length])
    own = (mask or ())[start:end]
    columns: dict[str, tuple[float, ...] | None] = {}
    for name in ("generation_logprobs", "prev_logprobs", "advantages"):
        values = fitting(numbers(flat.get(name), name), len(tokens), name)
        columns[name] = None if values is None else values[start:end]
    drawn = columns["generation_logprobs"]
    return {
        "prompt_ids": tokens[:start],
        "completion_ids": tokens[start:end],
        "sampled_mask": None if all(own) else own,
        "logprobs": masked(columns["prev_logprobs"] if drawn is None else drawn, own, NAN),
        "logprobs_kind": "trainer" if drawn is None and columns["prev_logprobs"] else None,
        "advantages": masked(columns["advantages"], own, 0.0),
    }


def _unwrapped(value: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


FORMAT = Format(
    name="nemo-rl",
    label="NeMo-RL batches",
    recognises=recognises,
    read=read,
    grouping=Grouping.PROMPTS,
    takes=lambda path: path.suffix == ".jsonl",
)
