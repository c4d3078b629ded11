"""Tables as files: what a spreadsheet would run is text, and every cell comes back as it was."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.export.origin import METADATA_KEY, Origin
from hara_viz.export.sheets import cell_text, csv_bytes, parquet_bytes, safe_cell

ORIGIN = Origin(runs=("=cmd|'/c calc'!A1\n\x1b[31m",), credit="0123456789abcdef")
ATTACKS = (
    "=1+1",
    '=HYPERLINK("http://x","y")',
    "+1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "＝1+1",
)


def read(made: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(made.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("text", ATTACKS)
def test_what_a_spreadsheet_would_run_is_quoted(text: str) -> None:
    assert safe_cell(text) == f"'{text}" and cell_text(safe_cell(text)) == text


def test_harmless_text_is_left_alone() -> None:
    for text in ("", "a=b", "12", "1 - 2", "⏎", "é", "<b>", "a\tb"):
        assert safe_cell(text) == text


@given(st.text())
def test_a_cell_comes_back_and_never_begins_a_formula(text: str) -> None:
    cell = safe_cell(text)
    assert not cell.lstrip(" ").startswith(tuple("=+-@\t\r\n"))
    assert cell_text(cell) == text.replace("\0", "\ufffd")


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"])), min_size=1))
def test_csv_round_trip(texts: list[str]) -> None:
    head, *rows = read(csv_bytes(pd.DataFrame({"text": texts}), ORIGIN))
    assert head == ["text", "made_by"]
    assert [cell_text(row[0]) for row in rows] == [t.replace("\0", "\ufffd") for t in texts]


def test_numbers_stay_numbers_and_unknown_stays_empty() -> None:
    table = pd.DataFrame({"x": [-1.5, np.nan, np.inf], "n": pd.array([-3, None, 4], "Int64"),
                          "list": [[1, -2], [], [0.5]]})  # fmt: skip
    rows = read(csv_bytes(table, ORIGIN))[1:]
    assert [row[:3] for row in rows] == [["-1.5", "-3", "[1, -2]"], ["", "", "[]"],
                                         ["", "4", "[0.5]"]]  # fmt: skip
    back = pq.read_table(io.BytesIO(parquet_bytes(table, ORIGIN))).to_pydict()
    assert back == {"x": [-1.5, None, None], "n": [-3, None, 4], "list": [[1.0, -2.0], [], [0.5]]}


def test_column_names_are_text_of_others_too() -> None:
    assert read(csv_bytes(pd.DataFrame({"=x": [1]}), ORIGIN))[0][0] == "'=x"


def test_lone_surrogates_and_hostile_names_do_not_break_a_file() -> None:
    table = pd.DataFrame({"t": ["a\ud83d", "b"]}, dtype=object)
    assert read(csv_bytes(table, ORIGIN))[1][0] == "a\ufffd"
    made = pq.read_table(io.BytesIO(parquet_bytes(table, ORIGIN)))
    assert made["t"].to_pylist() == ["a\ufffd", "b"]
    meta = json.loads(made.schema.metadata[METADATA_KEY.encode()])
    assert meta["credit"] == "0123456789abcdef" and "2610.04344" in meta["cite"]


def test_every_row_says_where_it_comes_from() -> None:
    for row in read(csv_bytes(pd.DataFrame({"a": [1, 2]}), ORIGIN))[1:]:
        assert row[-1].startswith("HarA-Viz ") and "credit 0123456789abcdef" in row[-1]
        assert "\x1b" not in row[-1] and "\n" not in row[-1] and "arXiv:2610.04344" in row[-1]
