"""Rows and columns -> the JSON that the table is drawn from.

    {"name": str, "content": digest of all the rest, "most": rows in sight, more scroll,
     "columns": [{"name", "label", "help", "width": pixels, "numeric": bool}],
     "rows": [{"cells": [[text shown, value to sort by or null]],
               "spots": [[sample, first token, past the last]],    what the row stands for
               "own": {"column's place": [sample, first, stop]}}]}  cells that lead elsewhere

Numbers are written here, so that a table reads the same wherever it is shown; unknown is a dash.
Text is passed on as it is: the browser side shows it as text.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hara_viz.errors import ShapeError

UNKNOWN = "–"


class Spot(NamedTuple):
    """Tokens first … stop−1 of a rollout, by its number in the group."""

    sample: int
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class Column:
    """A column: which value of a row, and how it is written."""

    name: str
    width: int
    """Least width in pixels; what is left of the page is shared out in proportion."""
    form: str | None = None
    """Format of numbers, such as ".3f" or ".0%"; None: as it is, text to the left."""
    label: str | None = None
    """Head of the column; None: its name."""
    help: str | None = None


def table_data(
    name: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, object]],
    spots: Sequence[Sequence[Spot]],
    own: Mapping[str, Sequence[Spot | None]] | None = None,
    *,
    most: int = 12,
) -> dict[str, Any]:
    """The table as JSON.

    Args:
        name: of this table, another one for each table of a page.
        columns: in the order shown.
        rows: one mapping of column names to values for each row; None and NaN are unknown.
        spots: what each row stands for, first the one that a click leads to; may be empty.
        own: for a column that leads elsewhere, the spot of each row's cell.
        most: rows in sight at once.

    Raises:
        ShapeError: as many spots as rows are needed.
    """
    for what, given in {"spots": spots, **(own or {})}.items():
        if len(given) != len(rows):
            raise ShapeError(f"table {name!r}: {len(given)} of {what} for {len(rows)} rows")
    places = {column.name: place for place, column in enumerate(columns)}
    shown = [
        {
            "cells": [_cell(row.get(column.name), column.form) for column in columns],
            "spots": [list(spot) for spot in of_row],
            "own": {
                str(places[column]): list(spot)
                for column, given in (own or {}).items()
                if (spot := given[i]) is not None
            },
        }
        for i, (row, of_row) in enumerate(zip(rows, spots, strict=True))
    ]
    heads = [
        {
            "name": column.name,
            "label": column.name if column.label is None else column.label,
            "help": column.help,
            "width": column.width,
            "numeric": all(not isinstance(row.get(column.name), str) for row in rows),
        }
        for column in columns
    ]
    said = {"name": name, "most": most, "columns": heads, "rows": shown}
    content = hashlib.sha256(json.dumps(said, allow_nan=False).encode()).hexdigest()[:16]
    return {**said, "content": content}


def _cell(value: object, form: str | None) -> list[Any]:
    """What is shown of a value, and what it is sorted by."""
    if value is None:
        return [UNKNOWN, None]
    if isinstance(value, str):
        return [value, value]
    number = value.item() if hasattr(value, "item") else value  # type: ignore[attr-defined]
    if not isinstance(number, int | float):
        return [str(number), str(number)]
    if not math.isfinite(number):
        return [UNKNOWN, None]
    text = str(number) if form is None else format(number, form)
    return [text.replace("-", "−").replace("%", " %"), number]
