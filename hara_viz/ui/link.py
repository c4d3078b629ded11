"""Selection <-> the query of a link. Pure; no Streamlit.

A link holds only what differs from the defaults, under short names, in a fixed order: what a
component may replace in the address by itself (signal … token) comes last. A value that cannot be
used costs only itself: it is left out, with a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hara_viz.ui.fields import PREFIX, changed_fields, config_from
from hara_viz.ui.selection import DEFAULT, LEVELS, Selection
from hara_viz.ui.words import clipped

# Streamlit's own, and what a link shortener or mail program appends.
_FOREIGN = ("embed", "embed_options", "utm_")

# Field of Selection -> its name in a link, in the order of a link.
NAMES: dict[str, str] = {
    "runs": "run",
    "global_step": "step",
    "problem": "problem",
    "group": "group",
    "among": "among",
    "paths": "paths",
    "layer": "layer",
    "signal": "signal",
    "underline": "under",
    "granularity": "level",
    "bounds": "bounds",
    "sample": "rollout",
    "token": "token",
}


def to_query(selection: Selection) -> dict[str, list[str]]:
    """The query of a link that restores `selection`: name -> values."""
    query: dict[str, list[str]] = {}
    for name, short in NAMES.items():
        if name == "signal":  # the first of those that components move
            query |= {PREFIX + n: [text] for n, text in changed_fields(selection.credit).items()}
        value = getattr(selection, name)
        if value != getattr(DEFAULT, name):
            query[short] = list(value) if name == "runs" else [_write(name, value)]
    return query


def _write(name: str, value: Any) -> str:
    if name in ("among", "paths"):
        return "-".join(map(str, value))
    if not isinstance(value, tuple):
        return str(value)
    # As JavaScript writes numbers, so that both sides write the same address.
    return "..".join(repr(part).removesuffix(".0") for part in value)


def from_query(query: Mapping[str, Sequence[str]]) -> tuple[Selection, tuple[str, ...]]:
    """The selection that a link asks for, and a sentence for each part that was left out."""
    found: dict[str, Any] = {}
    notes: list[str] = []
    by_short = {short: name for name, short in NAMES.items()}
    credit = {n.removeprefix(PREFIX): v[-1] for n, v in query.items() if n.startswith(PREFIX)}
    for short, values in query.items():
        name = by_short.get(short)
        if name is None:
            if not short.startswith((PREFIX, *_FOREIGN)):
                notes.append(
                    f"The link holds {clipped(short)}, which is unknown here; it was left out."
                )
            continue
        try:
            found[name] = tuple(values) if name == "runs" else _READERS[name](values[-1])
        except ValueError:
            notes.append(
                f"The link asks for {short} = {clipped(values[-1])}; it must be {_EXPECTED[name]}. "
                "It was left out."
            )
    config, credit_notes = config_from(credit)
    notes += [f"From the link: {note}. The default is used." for note in credit_notes]
    return replace(DEFAULT, **found, credit=config), tuple(notes)


def _natural(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise ValueError(text)
    return int(text)


def _whole(text: str) -> int:
    return -_natural(text[1:]) if text.startswith("-") else _natural(text)


def _samples(text: str) -> tuple[int, ...]:
    return tuple(sorted({_natural(part) for part in text.split("-")}))


def _word(text: str) -> str:
    if not text or len(text) > 80:
        raise ValueError(text)
    return text


def _level(text: str) -> str:
    if text not in LEVELS:
        raise ValueError(text)
    return text


def _bounds(text: str) -> tuple[float, float]:
    low, high = (float(part) for part in text.split(".."))
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(text)
    return low, high


_READERS: dict[str, Callable[[str], Any]] = {
    "global_step": _whole,
    "problem": _word,
    "group": _natural,
    "among": _samples,
    "paths": _samples,
    "layer": _natural,
    "signal": _word,
    "underline": _word,
    "granularity": _level,
    "bounds": _bounds,
    "sample": _natural,
    "token": _natural,
}
_EXPECTED = {
    "global_step": "a whole number",
    "problem": "a problem's id",
    "group": "a number from 0 on",
    "among": "rollouts by number, such as 0-3-5",
    "paths": "rollouts by number, such as 0-3-5",
    "layer": "a number from 0 on",
    "signal": "a signal's name",
    "underline": "a signal's name",
    "granularity": "one of " + ", ".join(LEVELS),
    "bounds": "two numbers, the smaller first, such as 0.0..1.5",
    "sample": "a number from 0 on",
    "token": "a number from 0 on",
}
