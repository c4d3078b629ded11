r"""JSON and text that always fit a UTF-8 file, whatever a data set or a model wrote.

Python strings may hold lone surrogates (half a character, from JSON such as "\ud83d"), which UTF-8
and so parquet cannot hold. JSON keeps them as escapes; plain text gets U+FFFD in their place, one
code point for one, so that spans and offsets stay right.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD; its length does not change."""
    return _SURROGATE.sub("\ufffd", text)


def escape_surrogates(json_text: str) -> str:
    r"""The same JSON document, with lone surrogates as \u escapes."""
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


def to_json(value: Any, *, indent: int | None = None) -> str:
    """JSON of plain values, readable (not ASCII-only) and always encodable."""
    return escape_surrogates(json.dumps(value, ensure_ascii=False, indent=indent))


def numbers_to_json(numbers: Mapping[str, float | None]) -> str:
    """JSON of named numbers; NaN and infinities, which JSON lacks, become null."""
    finite = {
        name: None if value is None or not math.isfinite(value) else value
        for name, value in numbers.items()
    }
    return to_json(finite)
