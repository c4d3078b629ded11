"""TRL (`log_completions=True`): `completions/completions_00012.parquet`, one file a log.

Columns: step, prompt, completion, one float column per reward function, columns that reward
functions logged, advantage. Neither group ids nor tokens; rows of a prompt follow each other, but a
file may begin within a group. Total rewards are not there: with equal weights they are the sum of
the functions' values, null where a function did not score.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from hara_viz.importers.foreign import ForeignRollout, Format, Grouping, Place, Record
from hara_viz.importers.values import first_gold, number, step_in, text_or_messages, whole

_NAME = re.compile(r"completions_\d+\.parquet")
_FLOATS = ("double", "float")
_RULE = "trl: reward minus the group's mean, scaled as scale_rewards says"


def takes(path: PurePath) -> bool:
    """The names that TRL gives, and any single file."""
    return path.suffix == ".parquet" and ("completions_" not in path.name or _is_log(path))


def recognises(record: Record, place: Place) -> bool:
    """The four columns that every such file has."""
    return {"step", "prompt", "completion", "advantage"} <= place.columns.keys()


def read(record: Record, place: Place) -> Iterable[ForeignRollout]:
    """The rollout of a row."""
    names = reward_columns(place)
    parts = {name: number(record.get(name), f"the reward {name}") for name in names}
    scored = [value for value in parts.values() if value is not None]
    step = whole(record.get("step"), "step")
    yield ForeignRollout(
        prompt=text_or_messages(record.get("prompt"), "prompt"),
        completion=text_or_messages(record.get("completion"), "completion"),
        global_step=_step_of(place) if step is None else step,
        gold=first_gold(record),
        reward=sum(scored) if scored else None,
        reward_parts=parts,
        advantage=number(record.get("advantage"), "advantage"),
        advantage_rule=_RULE,
    )


def reward_columns(place: Place) -> tuple[str, ...]:
    """Float columns that follow the completion, up to the first of another kind.

    Rewards come before what reward functions logged, which may be numbers too and can then not be
    told apart.
    """
    names = list(place.columns)
    found: list[str] = []
    start = names.index("completion") + 1 if "completion" in names else len(names)
    for name in names[start:]:
        if name == "advantage" or place.columns[name] not in (*_FLOATS, "null"):
            break
        found.append(name)
    return tuple(found)


def _is_log(path: PurePath) -> bool:
    return _NAME.fullmatch(path.name) is not None


def _step_of(place: Place) -> int | None:
    found = re.search(r"completions_(\d{1,12})", place.path.name)
    return int(found[1]) if found else step_in(place.path)


FORMAT = Format(
    name="trl",
    label="TRL completions",
    recognises=recognises,
    read=read,
    grouping=Grouping.RUNS,
    takes=takes,
    notes=(
        "which rows are of an evaluation (an evaluation overwrites the file of its step, and "
        "leftover training rows stay in it)",
        "weights of the reward functions (the reward shown is their plain sum)",
    ),
)
