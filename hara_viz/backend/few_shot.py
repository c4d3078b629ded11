"""Few-shot turns from a file: what stands before every problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hara_viz.errors import FormatError, MissingInputError
from hara_viz.types import Message


def read_few_shot(path: str | Path) -> tuple[Message, ...]:
    """Read turns from JSON (a list) or JSON lines.

    An entry is a turn {"role", "content"}, or an example {"question", "answer"} that makes a user
    turn and an assistant turn.

    Raises:
        MissingInputError: there is no such file.
        FormatError: it is not of this form, or holds no turn.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, IsADirectoryError):
        raise MissingInputError(f"there is no few-shot file {path}; check the path") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not UTF-8 text ({error.reason}); save it as UTF-8") from None
    turns = tuple(
        turn for number, entry in _entries(path, text) for turn in _turns(path, number, entry)
    )
    if not turns:
        raise FormatError(f"{path} holds no turns; leave --few-shot out or add some")
    return turns


def _entries(path: Path, text: str) -> list[tuple[int, Any]]:
    """Numbered entries of a JSON list, or of JSON lines."""
    if text.lstrip().startswith("["):
        try:
            return list(enumerate(json.loads(text), start=1))
        except ValueError as error:
            raise FormatError(f"{path} is not JSON: {error}") from None
    entries: list[tuple[int, Any]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                entries.append((number, json.loads(line)))
            except ValueError as error:
                raise FormatError(f"line {number} of {path} is not JSON: {error}") from None
    return entries


def _turns(path: Path, number: int, entry: Any) -> tuple[Message, ...]:
    if _holds(entry, "role", "content"):
        return (Message(entry["role"], entry["content"]),)
    if _holds(entry, "question", "answer"):
        return (Message("user", entry["question"]), Message("assistant", entry["answer"]))
    raise FormatError(
        f'entry {number} of {path} is no turn; write {{"role": …, "content": …}} or '
        '{"question": …, "answer": …}'
    )


def _holds(entry: Any, *names: str) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(name), str) for name in names)
