"""Option texts that hold more than one value."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hara_viz.errors import InvalidInputError


def pairs(option: str, texts: Sequence[str] | None) -> dict[str, str]:
    """Read "name=value" texts.

    Raises:
        InvalidInputError: one has no "=", or a name comes twice.
    """
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InvalidInputError(f"--{option} is {text!r}; write it as name=value")
        if name in found:
            raise InvalidInputError(f"--{option} names {name!r} twice; give each name once")
        found[name] = value
    return found


def typed(text: str) -> Any:
    """true, false, null and numbers as JSON reads them; all else is text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, (dict, list)) else value


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """Read "12,24" or "-1".

    Raises:
        InvalidInputError: something in it is no whole number.
    """
    try:
        return tuple(int(piece) for piece in text.split(","))
    except ValueError:
        raise InvalidInputError(
            f"--{option} is {text!r}; write whole numbers with commas between, as in -1 or 12,24"
        ) from None
