"""Foreign values, read with suspicion: what is not what it should be is an `UnusableRowError`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hara_viz.importers.foreign import Record, UnusableRowError
from hara_viz.types import Finish, Message

GOLD_COLUMNS = ("gold", "solution", "ground_truth", "answer", "target", "label", "gts")
_MAX_ID = 2**31 - 1
_MAX_STEP = 2**62
_FINISHES = {
    "stop": Finish.STOP,
    "eos": Finish.STOP,
    "eos_token": Finish.STOP,
    "completed": Finish.STOP,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "truncated": Finish.LENGTH,
    "abort": Finish.ABORT,
    "aborted": Finish.ABORT,
    "failed": Finish.ABORT,
}
_STEP_IN_NAME = re.compile(r"(?:step|iteration)[-_]?(\d{1,12})", re.IGNORECASE)


def number(value: Any, what: str) -> float | None:
    """A number; None where it is null, NaN or infinite ("not scored").

    Dumps hold strings such as "True" and "0.5", which numpy scalars became.
    """
    if value is None:
        return None
    if isinstance(value, str):
        text = value.strip().lower()
        named = {"true": 1.0, "false": 0.0, "none": math.nan, "null": math.nan, "": math.nan}
        try:
            value = named[text] if text in named else float(text)
        except ValueError:
            raise UnusableRowError(f"{what} is no number", shown(value)) from None
    if not isinstance(value, int | float):
        raise UnusableRowError(f"{what} is no number", shown(value))
    try:
        found = float(value)
    except OverflowError:
        raise UnusableRowError(f"{what} is out of range", "an integer of many digits") from None
    return found if math.isfinite(found) else None


def whole(value: Any, what: str) -> int | None:
    """A whole number from 0, such as a training step."""
    found = number(value, what)
    if found is None:
        return None
    exact = int(value) if isinstance(value, int) else int(found)
    fraction = exact != found and not isinstance(value, int)
    if fraction or not 0 <= exact <= _MAX_STEP:
        raise UnusableRowError(f"{what} is no whole number from 0", shown(value))
    return exact


def text(value: Any, what: str) -> str:
    """A text that UTF-8 can hold."""
    if not isinstance(value, str):
        raise UnusableRowError(f"{what} is no text", shown(value))
    return storable(value)


def storable(value: str) -> str:
    """JSON may escape halves of surrogate pairs; alone they become U+FFFD."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def ids(value: Any, what: str) -> tuple[int, ...]:
    """Token ids."""
    values = _list(value, what)
    if not all(type(i) is int and 0 <= i <= _MAX_ID for i in values):
        raise UnusableRowError(f"{what} holds something that is no token id")
    return tuple(values)


def numbers(value: Any, what: str) -> tuple[float, ...] | None:
    """A list of numbers, NaN where one is null; None where the list is null."""
    if value is None:
        return None
    found = (number(entry, what) for entry in _list(value, what))
    return tuple(math.nan if entry is None else entry for entry in found)


def flags(value: Any, what: str) -> tuple[bool, ...] | None:
    """A mask of booleans or 0 and 1; None where it is null."""
    if value is None:
        return None
    values = _list(value, what)
    if not all(isinstance(entry, int | float) and entry in (0, 1) for entry in values):
        raise UnusableRowError(f"{what} is no mask of true and false")
    return tuple(bool(entry) for entry in values)


def fitting(values: tuple[Any, ...] | None, n_tokens: int, what: str) -> tuple[Any, ...] | None:
    """The values if there is one for each token; nothing is cut to fit."""
    if values is not None and len(values) != n_tokens:
        raise UnusableRowError(
            f"{what} and token ids differ in length", f"{len(values)} for {n_tokens} tokens"
        )
    return values


def messages(value: Any, what: str) -> tuple[Message, ...]:
    """Chat turns; keys that are null (Arrow fills them in) do not count."""
    turns = _list(value, what)
    return tuple(_message(turn, what) for turn in turns)


def text_or_messages(value: Any, what: str) -> str | tuple[Message, ...]:
    """A prompt or completion in either form."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        value = [value]
    found = messages(value, what)
    if not found:
        raise UnusableRowError(f"{what} has no turns")
    return found


def gold(value: Any) -> str | None:
    """A gold answer from a text, a number or a list of one; None: it is something else."""
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        value = int(value) if value.is_integer() else value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return storable(_digits(value)).strip() or None


def first_gold(record: Record, names: Sequence[str] = GOLD_COLUMNS) -> str | None:
    """The gold answer from the first of these columns that holds one."""
    found = (gold(record.get(name)) for name in names)
    return next((answer for answer in found if answer is not None), None)


def label(value: Any) -> str | None:
    """A name or number as a name; None: it is neither."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        return None
    return storable(_digits(value))[:200]


def finish(value: Any) -> Finish:
    """Why a completion ended, in any framework's words."""
    return (
        _FINISHES.get(value.lower(), Finish.UNKNOWN) if isinstance(value, str) else Finish.UNKNOWN
    )


def step_in(path: Any) -> int | None:
    """The training step that a path names, such as `step_12` or `train_data_step3.jsonl`."""
    found = _STEP_IN_NAME.findall(str(path))
    return int(found[-1]) if found else None


def shown(value: Any) -> str:
    """A value for a message: short, whatever it is."""
    kind = type(value).__name__
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**40:
        return f"{kind} of many digits"
    return f"{kind} {storable(str(value))[:60]!r}"


def parsed(value: Any) -> Any:
    """JSON inside a text, for columns that hold records; else the value itself."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _digits(value: str | int | float) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of thousands of digits
        raise UnusableRowError("a name or answer is an integer of many digits") from None


def _list(value: Any, what: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise UnusableRowError(f"{what} is no list", shown(value))
    return value


def _message(turn: Any, what: str) -> Message:
    if not isinstance(turn, Mapping) or not isinstance(turn.get("role"), str):
        raise UnusableRowError(f"{what} has a turn without a role", shown(turn))
    content = turn.get("content")
    if isinstance(content, list):
        if not all(isinstance(p, Mapping) and isinstance(p.get("text"), str) for p in content):
            raise UnusableRowError(f"{what} holds images or other parts that are not text")
        content = "".join(part["text"] for part in content)
    if content is None:  # a call of a tool and nothing else
        content = ""
    if not isinstance(content, str):
        raise UnusableRowError(f"{what} has a turn that is no text", shown(content))
    return Message(storable(turn["role"]), storable(content))
