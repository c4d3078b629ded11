"""The token table's JSON: numbers as they are written, unknown as a dash, spots in place."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from hara_viz.components.token_table import Column, Spot, table_data
from hara_viz.errors import ShapeError

COLUMNS = (Column("n", 40), Column("share", 50, ".1%", label="of all"), Column("text", 90))
ROWS = [
    {"n": np.int64(3), "share": np.float32(0.25), "text": "<b>⏎"},
    {"n": None, "share": math.nan, "text": ""},
    {"n": -2, "share": -0.5, "text": "a"},
]
SPOTS = [[Spot(0, 3, 5), Spot(1, 0, 1)], [], [Spot(2, 7, 8)]]


def test_numbers_are_written_and_kept_for_the_order() -> None:
    data = table_data("t", COLUMNS, ROWS, SPOTS)
    assert [row["cells"] for row in data["rows"]] == [
        [["3", 3], ["25.0 %", 0.25], ["<b>⏎", "<b>⏎"]],
        [["–", None], ["–", None], ["", ""]],
        [["−2", -2], ["−50.0 %", -0.5], ["a", "a"]],
    ]
    assert [(c["label"], c["numeric"]) for c in data["columns"]] == [
        ("n", True), ("of all", True), ("text", False),
    ]  # fmt: skip
    assert json.loads(json.dumps(data, allow_nan=False)) == data


def test_infinite_is_not_a_number_that_json_knows() -> None:
    data = table_data("t", [Column("x", 9)], [{"x": math.inf}], [[]])
    assert data["rows"][0]["cells"] == [["–", None]]


def test_spots_of_rows_and_of_cells() -> None:
    own = {"text": [None, Spot(4, 1, 2), None]}
    rows = table_data("t", COLUMNS, ROWS, SPOTS, own)["rows"]
    assert [row["spots"] for row in rows] == [[[0, 3, 5], [1, 0, 1]], [], [[2, 7, 8]]]
    assert [row["own"] for row in rows] == [{}, {"2": [4, 1, 2]}, {}]


def test_the_digest_tells_tables_apart() -> None:
    said = [
        table_data("t", COLUMNS, ROWS, SPOTS),
        table_data("t", COLUMNS, ROWS, [[], [], []]),
        table_data("u", COLUMNS, ROWS, SPOTS),
        table_data("t", COLUMNS, ROWS[:2], SPOTS[:2]),
        table_data("t", COLUMNS, ROWS, SPOTS, most=3),
    ]
    assert len({data["content"] for data in said}) == len(said)
    assert said[0] == table_data("t", COLUMNS, ROWS, SPOTS)


def test_spots_that_do_not_fit_the_rows_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"table 't': 2 of spots for 3 rows"):
        table_data("t", COLUMNS, ROWS, SPOTS[:2])
    with pytest.raises(ShapeError, match=r"1 of text for 3 rows"):
        table_data("t", COLUMNS, ROWS, SPOTS, {"text": [None]})
