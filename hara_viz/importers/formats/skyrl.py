"""SkyRL (`dumped_evals/global_step_12_evals/{data_source}.jsonl`): text with its special tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from hara_viz.importers.foreign import (
    ForeignRollout,
    Format,
    Grouping,
    Place,
    PromptKind,
    Record,
)
from hara_viz.importers.values import (
    finish,
    first_gold,
    label,
    number,
    numbers,
    step_in,
    text_or_messages,
)


def recognises(record: Record, place: Place) -> bool:
    """Both texts under SkyRL's names."""
    return {"input_prompt", "output_response"} <= record.keys()


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """The rollout of a line."""
    extras = record.get("env_extras")
    known = extras if isinstance(extras, Mapping) else {}
    model = known.get("reward_model") or known.get("reward_spec")
    yield ForeignRollout(
        prompt=text_or_messages(record.get("input_prompt"), "input_prompt"),
        prompt_kind=PromptKind.MARKED,
        completion=text_or_messages(record.get("output_response"), "output_response"),
        global_step=step_in(place.path.parent),
        split="eval",
        source_id=label(record.get("data_source")),
        gold=first_gold(known) or (first_gold(model) if isinstance(model, Mapping) else None),
        reward=_score(record.get("score")),
        finish=finish(record.get("stop_reason")),
    )


def leaves_out(path: PurePath, others: frozenset[PurePath]) -> str | None:
    """Metrics beside the rollouts."""
    return "SkyRL's metrics, no rollouts" if path.name == "aggregated_results.jsonl" else None


def _score(value: Any) -> float | None:
    """A number, or one for each token, of which the sum is the rollout's."""
    if not isinstance(value, list):
        return number(value, "score")
    scores = numbers(value, "score")
    return number(sum(scores), "score") if scores else None


FORMAT = Format(
    name="skyrl",
    label="SkyRL evaluations",
    recognises=recognises,
    read=read,
    grouping=Grouping.PROMPTS,
    takes=lambda path: path.suffix == ".jsonl",
    leaves_out=leaves_out,
)
