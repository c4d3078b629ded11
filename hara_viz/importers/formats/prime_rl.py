"""prime-rl and verifiers v1: `rollouts/step_12/train/all/traces.jsonl`, one episode a line.

An episode holds traces, a trace a graph of messages with the very token ids, log-probabilities and
advantages. Each leaf of the graph is a branch: the way from the root to it is a prompt (up to the
first sampled token) and a completion. `effective/` repeats what of `all/` was trained on; it is
read first, so that its copies hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from hara_viz.importers.foreign import (
    ForeignRollout,
    Format,
    Grouping,
    Place,
    Record,
    UnusableRowError,
)
from hara_viz.importers.formats.token_rows import NAN, cut_at_mask, scattered
from hara_viz.importers.values import (
    finish,
    first_gold,
    fitting,
    flags,
    ids,
    label,
    messages,
    number,
    numbers,
    shown,
    step_in,
    whole,
)
from hara_viz.types import Finish

_RULE = "prime-rl: as its algorithm assigned them (by default reward minus the group's mean)"
_MAX_NODES = 100_000


class _Branch(NamedTuple):
    """The nodes from a root to a leaf."""

    leaf: int
    nodes: tuple[Mapping[str, Any], ...]
    numbers: tuple[int, ...]


def recognises(record: Record, place: Place) -> bool:
    """An episode with traces, or one that failed before any."""
    return isinstance(record.get("traces"), list) and ("task" in record or "env" in record)


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """A rollout for each branch of each trace."""
    traces = record["traces"]
    if not isinstance(traces, list) or not all(isinstance(trace, Mapping) for trace in traces):
        raise UnusableRowError("traces is no list of records", shown(traces))
    shared = _shared(record, place)
    found: list[ForeignRollout] = []
    for number_, trace in enumerate(traces):
        for branch in _branches(trace):
            if any(node.get("sampled") for node in branch.nodes):
                own = f"{label(record.get('id'))}/{number_}/{branch.leaf}"
                named = own if label(record.get("id")) else None
                found.append(_rollout(trace, branch, {**shared, "own_id": named}))
    if not found:
        errors = record.get("errors")
        raise UnusableRowError("the episode sampled nothing", shown(errors) if errors else "")
    return found


def leaves_out(path: PurePath, others: frozenset[PurePath]) -> str | None:
    """Exports that are laid out otherwise."""
    if "token_exports" in path.parts:
        return "a token export: packed sequences without rewards and groups"
    return None


def _shared(record: Record, place: Place) -> dict[str, Any]:
    """What all rollouts of an episode have in common."""
    task = _record(_record(record.get("task")).get("data"))
    run = _record(_record(record.get("run")).get("work"))
    step = step_in(place.path.parent)
    parts = place.path.parts
    errors = record.get("errors")
    return {
        "global_step": whole(run.get("step"), "step") if step is None else step,
        "split": next((name for name in ("train", "eval") if name in parts), None),
        "group_id": label(_record(record.get("group")).get("id")),
        "source_id": label(_record(record.get("task")).get("key")) or label(task.get("idx")),
        "gold": first_gold(task),
        "error": str(errors)[:300] if errors else None,
    }


def _branches(trace: Mapping[str, Any]) -> Iterable[_Branch]:
    nodes = trace.get("nodes")
    if not isinstance(nodes, list) or not all(isinstance(node, Mapping) for node in nodes):
        raise UnusableRowError("nodes is no list of records", shown(nodes))
    if len(nodes) > _MAX_NODES:
        raise UnusableRowError("a trace of too many nodes", str(len(nodes)))
    parents: list[int | None] = []
    for place, node in enumerate(nodes):
        parent = node.get("parent")
        # A parent stands before its child; anything else could go round in circles.
        if parent is not None and not (type(parent) is int and 0 <= parent < place):
            raise UnusableRowError("a node whose parent does not come before it", shown(parent))
        parents.append(parent)
    n_steps = 0
    for leaf in sorted(set(range(len(nodes))) - {p for p in parents if p is not None}):
        way: list[int] = []
        place: int | None = leaf
        while place is not None:
            way.append(place)
            place = parents[place]
        n_steps += len(way)
        if n_steps > _MAX_NODES:
            raise UnusableRowError("branches of too many nodes", f"over {_MAX_NODES}")
        way.reverse()
        yield _Branch(leaf, tuple(nodes[n] for n in way), tuple(way))


def _rollout(
    trace: Mapping[str, Any], branch: _Branch, shared: Mapping[str, Any]
) -> ForeignRollout:
    reward, parts = _rewards(trace)
    common = {
        **shared,
        "reward": reward,
        "reward_parts": parts,
        "finish": _finish(trace, branch),
    }
    turns = messages([_record(node.get("message")) for node in branch.nodes], "a node's message")
    first = next(n for n, node in enumerate(branch.nodes) if node.get("sampled"))
    last = max(n for n, node in enumerate(branch.nodes) if node.get("sampled"))
    prompt, said = turns[:first], turns[first : last + 1]
    if any(node.get("token_ids") is None for node in branch.nodes[: last + 1]):
        return ForeignRollout(prompt=prompt, completion=said, **common)
    return ForeignRollout(
        prompt=prompt,
        completion=said,
        **_tokens(branch.nodes[: last + 1]),
        **common,
    )


def _tokens(nodes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Token columns of a branch; a header before an answer's first token belongs to the prompt."""
    tokens: list[int] = []
    mask: list[bool] = []
    logprobs: list[float] | None = []
    advantages: list[float] | None = []
    for node in nodes:
        own = ids(node.get("token_ids"), "token_ids")
        sampled = fitting(flags(node.get("mask"), "mask"), len(own), "mask") or (False,) * len(own)
        tokens += own
        mask += sampled
        logprobs = _extended(logprobs, node, "logprobs", sampled, NAN)
        advantages = _extended(advantages, node, "advantages", sampled, 0.0)
    start, end = cut_at_mask(mask)
    return {
        "prompt_ids": tuple(tokens[:start]),
        "completion_ids": tuple(tokens[start:end]),
        "sampled_mask": None if all(mask[start:end]) else tuple(mask[start:end]),
        "logprobs": None if logprobs is None else tuple(logprobs[start:end]),
        "advantages": None if advantages is None else tuple(advantages[start:end]),
        "advantage_rule": None if advantages is None else _RULE,
    }


def _extended(
    so_far: list[float] | None,
    node: Mapping[str, Any],
    name: str,
    sampled: Sequence[bool],
    fill: float,
) -> list[float] | None:
    """A column with a node's values; None once they are unknown for a sampled token."""
    values = numbers(node.get(name), name)
    if so_far is None or (not values and any(sampled)):
        return None
    return so_far + scattered(values or (), sampled, fill, name)


def _rewards(trace: Mapping[str, Any]) -> tuple[float | None, dict[str, float | None]]:
    """The weighted sum of what scored, and each reward's own score."""
    parts: dict[str, float | None] = {}
    total: float | None = None
    for name, entry in _record(trace.get("rewards")).items():
        score = number(_record(entry).get("score"), "a reward's score")
        parts[str(name)[:80]] = score
        if score is not None:
            weight = number(_record(entry).get("weight", 1.0), "a reward's weight")
            total = (total or 0.0) + score * (1.0 if weight is None else weight)
    return total, parts


def _finish(trace: Mapping[str, Any], branch: _Branch) -> Finish:
    """As the last call says that made a node of the branch."""
    calls = trace.get("calls")
    ended = Finish.UNKNOWN
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, Mapping) and call.get("node") in branch.numbers:
            ended = finish(call.get("finish_reason"))
    return ended


def _record(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


FORMAT = Format(
    name="prime-rl",
    label="prime-rl episodes",
    recognises=recognises,
    read=read,
    grouping=Grouping.OWN_IDS,
    takes=lambda path: path.suffix in (".jsonl", ".ndjson"),
    leaves_out=leaves_out,
    comes_first=lambda path: path.parent.name == "effective",
)
