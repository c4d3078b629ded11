"""Relax (`rollout_result/{train,eval}/{rollout_id}.jsonl`): text with group numbers, no tokens."""

from __future__ import annotations

from collections.abc import Iterable

from hara_viz.importers.foreign import (
    ForeignRollout,
    Format,
    Grouping,
    Place,
    PromptKind,
    Record,
)
from hara_viz.importers.values import finish, gold, label, number, text_or_messages, whole


def recognises(record: Record, place: Place) -> bool:
    """Relax's names of step, group and text."""
    return {"rollout_id", "group_index", "prompt", "response"} <= record.keys()


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """The rollout of a line."""
    sample = whole(record.get("sample_index"), "sample_index")
    yield ForeignRollout(
        prompt=text_or_messages(record.get("prompt"), "prompt"),
        prompt_kind=PromptKind.MARKED,
        completion=text_or_messages(record.get("response"), "response"),
        global_step=whole(record.get("rollout_id"), "rollout_id"),
        split=next((name for name in ("train", "eval") if name in place.path.parts), None),
        group_id=label(record.get("group_index")),
        own_id=None if sample is None else f"{label(record.get('dataset'))}/{sample}",
        order=() if sample is None else (sample,),
        source_id=label(record.get("dataset")),
        gold=gold(record.get("label")),
        reward=number(record.get("reward"), "reward"),
        finish=finish(record.get("status")),
    )


FORMAT = Format(
    name="relax",
    label="Relax results",
    recognises=recognises,
    read=read,
    grouping=Grouping.OWN_IDS,
    takes=lambda path: path.suffix == ".jsonl",
)
