"""Tables as CSV that a spreadsheet may open, and as Parquet.

A spreadsheet takes a cell that begins with =, +, -, @, a tab or a line break for a formula, and
model text may begin with anything. Such text gets an apostrophe in front, as spreadsheets do it
themselves; text that has one already gets a second, so that taking one away restores every cell
(`cell_text`). Numbers are written as numbers. CSV begins with a byte-order mark: without it Excel
reads UTF-8 as something else.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from hara_viz.export.origin import METADATA_KEY, Origin
from hara_viz.store.text_json import storable

MADE_BY = "made_by"
"""The last column of text formats: `Origin.line`."""

# The full-width ones too: some spreadsheets fold them.
_STARTS_FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def safe_cell(text: str) -> str:
    """Text that a spreadsheet shows as it is and never runs."""
    text = storable(text).replace("\0", "\ufffd")  # a NUL ends the file for some readers
    risky = text.startswith(_STARTS_FORMULA) or text.lstrip(" ").startswith(_STARTS_FORMULA)
    return f"'{text}" if risky or text.startswith("'") else text


def cell_text(cell: str) -> str:
    """Inverse of `safe_cell`."""
    return cell.removeprefix("'")


def csv_bytes(table: pd.DataFrame, origin: Origin) -> bytes:
    """The table as UTF-8 CSV; unknown is an empty cell, lists are JSON."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*(safe_cell(str(name)) for name in table.columns), MADE_BY])
    line = safe_cell(origin.line)
    for row in table.itertuples(index=False, name=None):
        writer.writerow([*(_cell(value) for value in row), line])
    return out.getvalue().encode("utf-8-sig")


def parquet_bytes(table: pd.DataFrame, origin: Origin) -> bytes:
    """The table as Parquet, its text as it is, its origin in the metadata."""
    columns = {str(name): [_plain(value) for value in table[name]] for name in table.columns}
    made = pa.table({name: _array(values) for name, values in columns.items()})
    sink = io.BytesIO()
    pq.write_table(made.replace_schema_metadata({METADATA_KEY: origin.as_json}), sink)
    return sink.getvalue()


def _cell(value: Any) -> Any:
    value = _plain(value)
    if isinstance(value, str):
        return safe_cell(value)
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=True)
    return value  # None becomes an empty cell


def _plain(value: Any) -> Any:
    """A cell as plain Python; None is unknown."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(part) for part in value]
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _array(values: Sequence[Any]) -> pa.Array:
    # A column of mixed kinds is text; one without any known value too.
    try:
        made = pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        made = pa.array([None if value is None else str(value) for value in values])
    return made.cast(pa.string()) if pa.types.is_null(made.type) else made
