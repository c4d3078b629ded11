"""Our own record, for any trainer: one JSON object or Parquet row per rollout, or per group.

    {"prompt": "What is 7*6?", "completion": "It is 42.", "reward": 1.0, "step": 12}
    {"prompt": [{"role": "user", "content": "…"}], "completions": ["…", "…"], "rewards": [1.0, 0.0]}

| field (first name wins) | per rollout | per group |
|---|---|---|
| prompt | prompt, prompt_messages, question, prompt_text: text or chat turns | same |
| the whole chat | messages: the last turn is the completion | – |
| completion | completion, completion_text, response, output | completions, responses |
| reward | reward, score; NaN or null: unscored | rewards, scores |
| its parts | rewards or reward_parts: {"name": value} | – |
| step | step, global_step | same |
| gold answer | gold, solution, ground_truth, answer, target, label | same |
| names | group_id or group, sample_idx or sample, id or source_id, split | group_id, id, split |
| tokens | prompt_ids, completion_ids, sampled_mask | completion_ids: a list of lists, and so on |
| per token | logprobs, logprobs_kind, entropy, token_advantages | lists of lists |
| advantage | advantage, advantage_rule | advantages: one number a rollout |
| end | finish or finish_reason: stop, length, abort | finish_reasons |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hara_viz.importers.foreign import (
    ForeignRollout,
    Format,
    Grouping,
    Place,
    Record,
    UnusableRowError,
)
from hara_viz.importers.values import (
    finish,
    first_gold,
    fitting,
    flags,
    ids,
    label,
    number,
    numbers,
    parsed,
    shown,
    step_in,
    text_or_messages,
    whole,
)
from hara_viz.types import Message

PROMPTS = ("prompt", "prompt_messages", "question", "prompt_text")
COMPLETIONS = ("completion", "completion_text", "response", "output")
MANY = ("completions", "responses")
REWARDS = ("reward", "score")
KINDS = ("raw", "processed", "trainer")
_PER_ROLLOUT = {
    "completions": "completion", "responses": "completion", "rewards": "reward",
    "scores": "reward", "completion_ids": "completion_ids", "sampled_mask": "sampled_mask",
    "logprobs": "logprobs", "entropy": "entropy", "token_advantages": "token_advantages",
    "advantages": "advantage", "finish_reasons": "finish",
}  # fmt: skip
"""Column of a group -> field of a rollout."""


def recognises(record: Record, place: Place) -> bool:
    """A prompt and a completion under any of their names."""
    has_prompt = any(name in record for name in (*PROMPTS, "prompt_ids", "messages"))
    names = (*COMPLETIONS, *MANY, "completion_ids")
    return (has_prompt and any(name in record for name in names)) or _is_chat(record)


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """The rollout of a flat record, or those of a grouped one."""
    column = next((name for name in MANY if record.get(name) is not None), None)
    if column is None:
        group = label(first(record, ("group_id", "group")))
        yield _rollout(record, place, group, label(first(record, ("sample_idx", "sample"))))
        return
    for number_, flat in enumerate(_flattened(record, column)):
        yield _rollout(flat, place, f"{place.path}:{place.number}", str(number_))


def first(record: Record, names: Iterable[str]) -> Any:
    """The value of the first of these fields that is filled."""
    return next((record[name] for name in names if record.get(name) is not None), None)


def _flattened(record: Record, column: str) -> Iterable[dict[str, Any]]:
    """One flat record for each completion of a grouped one."""
    many = parsed(record[column])
    if not isinstance(many, list) or not many:
        raise UnusableRowError(f"{column} is no list of completions", shown(many))
    shared = {name: value for name, value in record.items() if name not in _PER_ROLLOUT}
    for number_ in range(len(many)):
        flat = dict(shared)
        for name, field in _PER_ROLLOUT.items():
            values = parsed(record.get(name))
            if values is None or (name in MANY and name != column):
                continue
            if not isinstance(values, list) or len(values) != len(many):
                found = f"{len(values)}" if isinstance(values, list) else shown(values)
                raise UnusableRowError(
                    f"{name} does not fit {column}", f"{found} for {len(many)} completions"
                )
            flat[field] = values[number_]
        yield flat


def _rollout(
    record: Record, place: Place, group: str | None, sample: str | None
) -> ForeignRollout:  # fmt: skip
    prompt, completion = _texts(record)
    tokens = None if record.get("completion_ids") is None else ids(
        parsed(record["completion_ids"]), "completion_ids"
    )  # fmt: skip
    step = whole(first(record, ("step", "global_step")), "step")
    parts = _parts(record)
    kind = record.get("logprobs_kind")
    # A sample's number names it only where its group has a name of its own.
    named = group is not None and sample is not None
    order = (int(sample),) if sample is not None and sample.isdigit() and len(sample) < 18 else ()
    return ForeignRollout(
        prompt=prompt,
        prompt_ids=_optional_ids(record, "prompt_ids"),
        completion=completion,
        completion_ids=tokens,
        **_per_token(record, tokens),
        logprobs_kind=kind if kind in KINDS else None,
        global_step=step_in(place.path) if step is None else step,
        split=label(record.get("split")),
        group_id=group,
        own_id=f"{group}/{sample}" if named else None,
        order=order,
        source_id=label(first(record, ("source_id", "id"))),
        gold=first_gold(record),
        reward=_reward(record, parts),
        reward_parts=parts,
        advantage=number(first(record, ("advantage", "recorded_advantage")), "advantage"),
        advantage_rule=label(record.get("advantage_rule")),
        finish=finish(first(record, ("finish", "finish_reason"))),
        error=label(record.get("error")),
    )


def _texts(
    record: Record,
) -> tuple[str | tuple[Message, ...] | None, str | tuple[Message, ...] | None]:
    """Prompt and completion; from a whole chat, its last turn is the completion."""
    prompt, completion = first(record, PROMPTS), first(record, COMPLETIONS)
    chat = parsed(record.get("messages"))
    if completion is None and _is_chat(record):
        turns = text_or_messages(chat, "messages")
        assert isinstance(turns, tuple), "a list is never read as a text"
        return turns[:-1], turns[-1].content
    if prompt is None and chat is not None:
        prompt = chat
    return (
        None if prompt is None else text_or_messages(_turns(prompt), "the prompt"),
        None if completion is None else text_or_messages(_turns(completion), "the completion"),
    )


def _turns(value: Any) -> Any:
    """Turns that stand as JSON in a text; any other text stays as it is."""
    found = parsed(value)
    is_chat = isinstance(found, list) and found and isinstance(found[0], dict)
    return found if is_chat and "role" in found[0] else value


def _is_chat(record: Record) -> bool:
    chat = parsed(record.get("messages"))
    last = chat[-1] if isinstance(chat, list) and len(chat) > 1 else None
    return isinstance(last, Mapping) and last.get("role") == "assistant"


def _parts(record: Record) -> dict[str, float | None] | None:
    found = first(record, ("reward_parts", "rewards"))
    found = parsed(found)
    if not isinstance(found, Mapping):
        return None
    return {str(name)[:80]: number(value, f"the reward {name}") for name, value in found.items()}


def _reward(record: Record, parts: Mapping[str, float | None] | None) -> float | None:
    said = first(record, REWARDS)
    if said is not None or not parts or any(name in record for name in REWARDS):
        return number(said, "reward")
    known = [value for value in parts.values() if value is not None]
    return sum(known) if known else None


def _per_token(record: Record, tokens: tuple[int, ...] | None) -> dict[str, Any]:
    """What stands per token; without token ids nobody knows which token it is about."""
    columns = {
        "sampled_mask": flags(parsed(record.get("sampled_mask")), "sampled_mask"),
        "logprobs": numbers(parsed(record.get("logprobs")), "logprobs"),
        "entropy": numbers(parsed(record.get("entropy")), "entropy"),
        "advantages": numbers(
            parsed(first(record, ("token_advantages", "recorded_advantages"))), "token_advantages"
        ),
    }
    if tokens is None:
        return {}
    return {name: fitting(values, len(tokens), name) for name, values in columns.items()}


def _optional_ids(record: Record, name: str) -> tuple[int, ...] | None:
    value = parsed(record.get(name))
    return None if value is None else ids(value, name)


FORMAT = Format(
    name="generic",
    label="generic records",
    recognises=recognises,
    read=read,
    grouping=Grouping.OWN_IDS,
)
