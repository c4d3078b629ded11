"""The same rows in every kind of file; broken files are one clear sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.errors import ConfigError, FormatError, InvalidInputError, MissingInputError
from hara_viz.problems import ColumnMap, load_problems

ROWS = [
    {"question": f"What is {n} + {n}?\nThink, then say.", "answer": str(2 * n)} for n in range(5)
]


def json_lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def write(path: Path, rows: list[dict[str, str]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix in {".csv", ".tsv"}:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            delimiter = "," if path.suffix == ".csv" else "\t"
            writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    else:
        json_lines(path, rows)
    return path


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet"])
def test_every_kind_of_file_holds_the_same_problems(tmp_path: Path, suffix: str) -> None:
    found = load_problems(write(tmp_path / f"set{suffix}", ROWS))
    assert [p.messages[0].content for p in found.problems] == [r["question"] for r in ROWS]
    assert [p.gold for p in found.problems] == ["0", "2", "4", "6", "8"]
    assert (found.n_rows, found.n_duplicates, found.skipped) == (5, 0, ())


@pytest.mark.parametrize(
    "value",
    [
        {"data": ROWS, "version": 1},
        {"question": [r["question"] for r in ROWS], "answer": [r["answer"] for r in ROWS]},
    ],
)
def test_json_may_wrap_its_rows(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "set.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    assert len(load_problems(path).problems) == 5


def test_json_lines_under_the_name_json(tmp_path: Path) -> None:
    assert len(load_problems(json_lines(tmp_path / "set.json", ROWS)).problems) == 5


def test_verl_records_survive_csv_as_json_text(tmp_path: Path) -> None:
    prompt = json.dumps([{"role": "user", "content": "7*6?"}])
    model = json.dumps({"style": "rule", "ground_truth": "42"})
    found = load_problems(write(tmp_path / "s.csv", [{"prompt": prompt, "reward_model": model}]))
    assert found.format == "verl"
    assert found.problems[0].messages[0].content == "7*6?"
    assert found.problems[0].gold == "42"


def test_duplicates_are_counted_however_they_are_written(tmp_path: Path) -> None:
    rows = [*ROWS, ROWS[0], {**ROWS[1], "id": "another"}, {**ROWS[2], "answer": "5"}]
    found = load_problems(json_lines(tmp_path / "set.jsonl", rows))
    assert (len(found.problems), found.n_rows, found.n_duplicates) == (6, 8, 2)


def test_limit_counts_problems_and_stops_reading(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "set.jsonl", [ROWS[0], ROWS[0], 5, *ROWS])
    found = load_problems(path, limit=2)
    assert (len(found.problems), found.n_rows, found.n_duplicates) == (2, 5, 2)
    assert found.skipped[0].row == 3


def test_first_rows_of_a_large_parquet_file_do_not_read_it_all(tmp_path: Path) -> None:
    path = tmp_path / "set.parquet"
    rows = [{"question": f"q{n}", "answer": str(n)} for n in range(4000)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=500)
    head = path.read_bytes()
    half = len(head) // 2
    # The second half of the data is destroyed, the footer is whole.
    footer = 8 + int.from_bytes(head[-8:-4], "little")
    path.write_bytes(head[:half] + b"\0" * (len(head) - half - footer) + head[-footer:])
    assert len(load_problems(path, limit=600).problems) == 600
    with pytest.raises(FormatError, match=r"no readable Parquet"):
        load_problems(path)


def test_lines_end_at_newlines_only(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    question = "one\u2028two\u0085three\x0cfour"
    line = json.dumps({"question": question, "answer": "1"}, ensure_ascii=False)
    path.write_bytes(("\ufeff" + line + "\r\n\n" + line.replace("one", "1")).encode())
    found = load_problems(path)
    assert [p.messages[0].content[:3] for p in found.problems] == ["one", "1\u2028t"]


def test_broken_bytes_become_replacement_characters(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(b'{"question": "caf\xe9?", "answer": "1"}\n')
    assert load_problems(path).problems[0].messages[0].content == "caf\ufffd?"


GOOD_LINE = json.dumps(ROWS[0])


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("set.jsonl", GOOD_LINE + '\n{"question": "half', r"line 2 of .* and the file ends in it"),
        ("set.jsonl", '{"a": \n' + GOOD_LINE + "\n", r"line 1 of .*set.jsonl is not valid JSON"),
        ("set.json", '[{"question": "q"', r"not valid JSON"),
        ("set.json", "42", r"bare int"),
        ("set.json", "[1, 2]", r"no records"),
        ("set.csv", 'question,answer\n"half,1\n', r"line \d of .* not valid CSV"),
        ("set.csv", "question,answer\n", r"no rows"),
        ("set.csv", "question,answer\nq,1,2\n", r"no records"),
        ("set.parquet", "PAR1 and no more", r"no readable Parquet"),
        ("set.parquet", "not even that", r"no readable Parquet"),
        ("set.jsonl", "", r"empty"),
        ("set.jsonl", " \n\n", r"empty"),
        ("set.xlsx", "PK", r"no known kind.*\.parquet"),
        ("set.parquet", "version https://git-lfs.github.com/spec/v1\n", r"Git LFS"),
        ("set.jsonl", '{"foo": 1, "bar": 2}\n', r"\(foo, bar\) are of no known layout"),
        ("set.jsonl", '{"question": "", "answer": "1"}\n', r"none of the 1 rows .* is empty"),
        ("set.jsonl", '{"question": "q"}\n', r"no known layout"),
    ],
)
def test_bad_files_are_one_clear_sentence(
    tmp_path: Path, name: str, content: str, says: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=says) as caught:
        load_problems(path)
    assert "\n" not in str(caught.value)


def test_missing_file_directory_and_limit(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"no problem file .*none\.jsonl"):
        load_problems(tmp_path / "none.jsonl")
    json_lines(tmp_path / "inside.jsonl", ROWS)
    with pytest.raises(FormatError, match=r"is a directory \(it holds inside\.jsonl\)"):
        load_problems(tmp_path)
    with pytest.raises(InvalidInputError, match="limit is 0"):
        load_problems(tmp_path / "inside.jsonl", limit=0)


def test_wrong_named_columns_say_what_there_is(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "set.jsonl", ROWS)
    with pytest.raises(FormatError, match=r"no filled columns text or gold; it has question, ans"):
        load_problems(path, columns=ColumnMap(question="text", gold="gold"))


@pytest.mark.parametrize("text", ["", "q", "gold=a", "question=a,question=b", "question=", "x=y"])
def test_column_maps_that_are_none(text: str) -> None:
    with pytest.raises(ConfigError, match="question=COLUMN"):
        ColumnMap.parse(text)


@given(st.binary(max_size=200), st.sampled_from(["jsonl", "json", "csv", "parquet"]))
def test_any_bytes_are_problems_or_a_format_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / f"set.{suffix}"
    path.write_bytes(content)
    try:
        assert load_problems(path).problems
    except FormatError as error:
        assert str(path) in str(error)
