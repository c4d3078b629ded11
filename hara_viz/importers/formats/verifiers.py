"""verifiers (legacy `results.jsonl`) and early prime-rl (`train_rollouts.jsonl`): text alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from hara_viz.importers.foreign import ForeignRollout, Format, Grouping, Place, Record
from hara_viz.importers.values import first_gold, label, number, step_in, text_or_messages
from hara_viz.types import Finish

# As verifiers and prime-rl name their files and folders; a word of its own, so that
# "constraints" or "retrieval" say nothing.
_SPLITS = {
    "train": "train",
    "training": "train",
    "eval": "eval",
    "evals": "eval",
    "evaluation": "eval",
}


def recognises(record: Record, place: Place) -> bool:
    """What every writer of verifiers has."""
    return {"example_id", "prompt", "completion", "reward"} <= record.keys()


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """The rollout of a line."""
    found = record.get("metrics")
    metrics = found if isinstance(found, Mapping) else {}
    error = record.get("error")
    info = record.get("info")
    yield ForeignRollout(
        prompt=text_or_messages(record.get("prompt"), "prompt"),
        completion=text_or_messages(record.get("completion"), "completion"),
        global_step=step_in(place.path),
        split=_split(place.path),
        group_id=label(record.get("example_id")),
        source_id=label(record.get("example_id")),
        gold=first_gold(record) or (first_gold(info) if isinstance(info, Mapping) else None),
        reward=number(record.get("reward"), "reward"),
        reward_parts={str(k)[:80]: number(v, "a metric") for k, v in metrics.items()},
        finish=_finish(record),
        error=str(error)[:300] if error else None,
    )


def _split(path: PurePath) -> str | None:
    """By a word in the name of the file or of a folder above it, the nearest one."""
    for name in reversed(path.parts):
        for word in re.findall("[a-z]+", name.lower()):
            if word in _SPLITS:
                return _SPLITS[word]
    return None


def _finish(record: Record) -> Finish:
    if record.get("is_truncated") is True:
        return Finish.LENGTH
    ended = record.get("is_completed") is True and record.get("is_truncated") is False
    return Finish.STOP if ended else Finish.UNKNOWN


FORMAT = Format(
    name="verifiers",
    label="verifiers results",
    recognises=recognises,
    read=read,
    grouping=Grouping.OWN_IDS,
    takes=lambda path: path.suffix in (".jsonl", ".ndjson"),
)
