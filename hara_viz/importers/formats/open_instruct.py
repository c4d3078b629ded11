"""open-instruct (`--save_traces`): `{run}_rollouts_000000.jsonl`; token ids, no text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from hara_viz.importers.foreign import ForeignRollout, Format, Grouping, Place, Record
from hara_viz.importers.values import finish, fitting, gold, ids, label, number, numbers, whole

_RULE = "open-instruct: as its trainer computed it"


def recognises(record: Record, place: Place) -> bool:
    """Both token columns."""
    return {"prompt_tokens", "response_tokens"} <= record.keys()


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """The rollout of a line. `prompt_idx` begins anew at each step."""
    tokens = ids(record.get("response_tokens"), "response_tokens")
    sample = whole(record.get("sample_idx"), "sample_idx")
    step = whole(record.get("step"), "step")
    group = label(record.get("prompt_idx"))
    yield ForeignRollout(
        prompt_ids=ids(record.get("prompt_tokens"), "prompt_tokens"),
        completion_ids=tokens,
        logprobs=fitting(numbers(record.get("logprobs"), "logprobs"), len(tokens), "logprobs"),
        global_step=step,
        group_id=group,
        own_id=None if sample is None or step is None else f"{group}/{sample}",
        order=() if sample is None else (sample,),
        source_id=label(record.get("dataset")),
        gold=gold(record.get("ground_truth")),
        reward=number(record.get("reward"), "reward"),
        advantage=number(record.get("advantage"), "advantage"),
        advantage_rule=_RULE,
        finish=finish(record.get("finish_reason")),
    )


def leaves_out(path: PurePath, others: frozenset[PurePath]) -> str | None:
    """The line beside the rollouts that names the model."""
    return (
        "open-instruct's metadata, no rollouts" if path.name.endswith("_metadata.jsonl") else None
    )


FORMAT = Format(
    name="open-instruct",
    label="open-instruct traces",
    recognises=recognises,
    read=read,
    grouping=Grouping.OWN_IDS,
    takes=lambda path: path.suffix == ".jsonl",
    leaves_out=leaves_out,
)
