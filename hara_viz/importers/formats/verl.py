"""verl (`trainer.rollout_data_dir`, `validation_data_dir`): `{global_step}.jsonl`.

Keys: input, output, gts, score, step; `uid` from the newer trainer, extras of the reward function
from the older one and from validations. Both texts are decoded without special tokens, so the
prompt's ids need the chat template, and nothing tells an end mark from the limit of tokens. Batches
are balanced between ranks, so rows of a group need not follow each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hara_viz.importers.foreign import (
    ForeignRollout,
    Format,
    Grouping,
    Place,
    PromptKind,
    Record,
)
from hara_viz.importers.values import gold, label, number, text, whole

_OWN = {"input", "output", "gts", "score", "step", "uid", "request_id"}


def recognises(record: Record, place: Place) -> bool:
    """The keys that every writer of verl has."""
    return {"input", "output", "score"} <= record.keys()


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """The rollout of a line."""
    group, order = _uid(record)
    step = whole(record.get("step"), "step")
    uid = label(record.get("uid"))
    yield ForeignRollout(
        prompt=text(record.get("input"), "input"),
        prompt_kind=PromptKind.STRIPPED,
        completion=text(record.get("output"), "output"),
        global_step=_step_in_name(place) if step is None else step,
        split="validation" if "reward" in record else None,
        group_id=group,
        own_id=uid,
        order=order,
        gold=gold(record.get("gts")),
        reward=number(record.get("score"), "score"),
        reward_parts=_parts(record),
    )


def _uid(record: Record) -> tuple[str | None, tuple[int, ...]]:
    """`{group}_{rollout}_{output}` of the newer trainer; the older one names no groups.

    `request_id` is the engine's name of one request, so it tells nothing of groups.
    """
    uid = label(record.get("uid"))
    pieces = (uid or "").rsplit("_", 2)
    if len(pieces) < 3 or not all(p.isdigit() and len(p) < 18 for p in pieces[1:]):
        return uid, ()
    return pieces[0], (int(pieces[1]), int(pieces[2]))


def _parts(record: Record) -> dict[str, float | None]:
    """The score, and extras of the reward function that are numbers."""
    parts = {"score": number(record.get("score"), "score")}
    for name, value in record.items():
        # Numbers in quotes are answers; True and False in quotes were numpy's.
        if name not in _OWN and (isinstance(value, int | float) or value in ("True", "False")):
            parts[str(name)[:80]] = number(value, "an extra of the reward")
    return parts


def _step_in_name(place: Place) -> int | None:
    stem = place.path.stem
    return int(stem) if re.fullmatch(r"\d{1,12}", stem) else None


FORMAT = Format(
    name="verl",
    label="verl rollouts",
    recognises=recognises,
    read=read,
    grouping=Grouping.OWN_IDS,
    takes=lambda path: path.suffix in (".jsonl", ".ndjson"),
    notes=("special tokens (prompts are rendered anew by the checkpoint's chat template)",),
)
