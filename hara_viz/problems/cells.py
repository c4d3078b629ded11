"""One row's cells: looked up without regard to case, and read as prompts, answers and ids.

Whatever makes a row unusable is an `UnusableRowError` with a reason in words.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from hara_viz.text.boxed import boxed_spans
from hara_viz.types import Message

Cells = Mapping[str, Any]
"""A row with its column names in lower case."""

MAX_ANSWER = 300
"""Characters of a reference without a mark; what is longer is a text, not an answer."""
_CALCULATOR = re.compile(r"<<[^<>\n]*>>")


class UnusableRowError(ValueError):
    """The row holds no problem; the message says why."""


def lower_case(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The row by lower-case column names; where two collide, the one written so wins."""
    cells = {str(name).strip().lower(): value for name, value in row.items()}
    cells.update({name: value for name, value in row.items() if name in cells})
    return cells


def lookup(cells: Cells, column: str) -> Any:
    """A cell by its column; a dot reaches into nested records. None if there is none."""
    if column.lower() in cells:
        return cells[column.lower()]
    value: Any = cells
    for name in column.lower().split("."):
        record = _as_record(value)
        if record is None:
            return None
        value = record[name] if name in record else lower_case(record).get(name)
    return value


def _as_record(value: Any) -> Mapping[Any, Any] | None:
    if isinstance(value, str):
        value = _json_or_none(value)  # CSV keeps records as JSON text
    return value if isinstance(value, Mapping) else None


def _json_or_none(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def first_column(cells: Cells, names: tuple[str, ...]) -> str | None:
    """The first of these columns that the row has."""
    return next((name for name in names if name in cells), None)


def prompt_of(value: Any) -> tuple[Message, ...]:
    """A prompt from text, from a list of chat turns, or from JSON of such a list.

    Raises:
        UnusableRowError: it is empty, or holds more than text.
    """
    turns = value if isinstance(value, list | tuple) else None
    if isinstance(value, str):
        turns = chat_turns(_json_or_none(value))
        if turns is None:
            return (Message("user", _not_blank(value, "question")),)
    turns = chat_turns(turns)
    if turns is None:
        raise UnusableRowError(f"the prompt is {_shown(value)}, neither text nor chat turns")
    messages = tuple(Message(str(turn["role"]), _content(turn["content"])) for turn in turns)
    if not any(message.content.strip() for message in messages):
        raise UnusableRowError("the prompt is empty")
    return messages


def chat_turns(value: Any) -> list[dict[str, Any]] | None:
    """The value if it is a non-empty list of turns with role and content, else None."""
    if not isinstance(value, list | tuple) or not value:
        return None
    for turn in value:
        if not (isinstance(turn, Mapping) and turn.get("role") and "content" in turn):
            return None
    return list(value)


def _content(content: Any) -> str:
    if isinstance(content, list):
        if any(not isinstance(part, Mapping) or part.get("text") is None for part in content):
            raise UnusableRowError("the prompt holds images or other parts that are not text")
        content = "".join(str(part["text"]) for part in content)
    if not isinstance(content, str):
        raise UnusableRowError(f"a turn of the prompt is {_shown(content)}, not text")
    return _storable(content)


def _not_blank(text: str, what: str) -> str:
    if not text.strip():
        raise UnusableRowError(f"the {what} is empty")
    return _storable(text)


def _storable(text: str) -> str:
    """JSON may escape halves of surrogate pairs; alone they are no text that could be kept."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def gold_of(value: Any) -> str:
    """A gold answer from a text, a number, or a list of one.

    Raises:
        UnusableRowError: it is missing, or no single answer.
    """
    if isinstance(value, list | tuple):
        if len(value) != 1:
            raise UnusableRowError(f"{len(value)} gold answers, one is needed")
        value = value[0]
    if isinstance(value, float):
        if not math.isfinite(value):  # an empty cell that went through pandas
            raise UnusableRowError("the gold answer is missing")
        value = int(value) if value.is_integer() else value
    if value is None:
        raise UnusableRowError("the gold answer is missing")
    if isinstance(value, Mapping) or (isinstance(value, str) and _is_test_case(value)):
        raise UnusableRowError("the reference is a record (code tests?), not an answer")
    return _not_blank(str(value), "gold answer").strip()


def _is_test_case(text: str) -> bool:
    return isinstance(_json_or_none(text), dict) and len(text) > 2


def final_answer_of(rationale: str) -> str:
    r"""The answer that closes a worked solution: after the last `####`, in the last box, or all.

    Raises:
        UnusableRowError: the place of the answer is empty, or a long text marks none.
    """
    if "####" in rationale:
        answer = rationale.rsplit("####", 1)[1].strip().split("\n")[0]
        return _not_blank(without_thousands(answer), "gold answer after ####").strip()
    boxes = boxed_spans(rationale)
    if boxes:
        return _not_blank(rationale[boxes[-1].start : boxes[-1].end], "box of the solution").strip()
    if len(rationale) > MAX_ANSWER:
        raise UnusableRowError("the reference is a long text that marks no answer (#### or a box)")
    return _not_blank(_CALCULATOR.sub("", rationale), "gold answer").strip()


def without_thousands(answer: str) -> str:
    """An answer such as 1,234 without its commas, as GSM8K's scorer reads it; others stay."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", answer)


def id_of(cells: Cells, *columns: str) -> str | None:
    """The row's own id, from the first of these columns that is filled."""
    for column in columns:
        value = lookup(cells, column)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return None


def _shown(value: Any) -> str:
    return f"{type(value).__name__} {str(value)[:40]!r}"
