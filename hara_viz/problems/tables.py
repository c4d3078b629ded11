"""Files to rows: JSON lines, JSON, CSV/TSV and Parquet, one row at a time.

A problem set is a static input: a file that ends in half a line is broken, not growing, and is
refused with its line. Text is UTF-8; broken bytes become U+FFFD.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hara_viz.errors import FormatError, MissingInputError

READABLE = ".jsonl, .json, .csv, .tsv and .parquet"
BATCH = 512  # rows of Parquet in memory at once
MAX_CELL = 2**27  # characters of one CSV cell; csv's own limit is smaller than a long prompt
_LFS = b"version https://git-lfs"


class Row(NamedTuple):
    """One row of a file."""

    number: int
    """From 1; for JSON lines the line."""
    value: Any
    """A dict, unless the file holds something else."""


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file, lazily where its kind allows.

    Raises:
        MissingInputError: there is no such file.
        FormatError: it is a directory, unreadable, empty, broken, or of no known kind.
    """
    if path.is_dir():
        inside = sorted(p.name for p in path.iterdir() if p.suffix.lower() in READERS)[:5]
        found = f" (it holds {', '.join(inside)})" if inside else ""
        raise FormatError(f"{path} is a directory{found}; name one file of problems")
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except FileNotFoundError as error:
        raise MissingInputError(
            f"there is no problem file {path}; give a file ending in {READABLE}"
        ) from error
    except OSError as error:
        raise FormatError(f"{path} cannot be read ({error.strerror}); check the file") from error
    if not head.strip():
        raise FormatError(f"{path} is empty; give a file with at least one problem")
    if head.startswith(_LFS):
        raise FormatError(f"{path} is only a Git LFS pointer; fetch the file with `git lfs pull`")
    kind = ".parquet" if head.startswith(b"PAR1") else path.suffix.lower()
    if kind not in READERS:
        raise FormatError(f"{path} is of no known kind; problem files end in {READABLE}")
    return READERS[kind](path)


def _json_lines(path: Path) -> Iterator[Row]:
    # Binary, since text mode would also split at lone carriage returns.
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            line = raw.decode("utf-8", errors="replace").lstrip("\ufeff").strip()
            if not line:
                continue
            try:
                yield Row(number, json.loads(line))
            except (ValueError, RecursionError) as error:
                whole = "" if raw.endswith(b"\n") else " and the file ends in it"
                raise FormatError(
                    f"line {number} of {path} is not valid JSON ({_short(error)}{whole}); "
                    "repair or remove the line"
                ) from error


def _json(path: Path) -> Iterator[Row]:
    text = path.read_bytes().decode("utf-8", errors="replace").lstrip("\ufeff")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        if getattr(error, "msg", "") == "Extra data":
            return _json_lines(path)  # many tools call JSON lines .json
        raise FormatError(
            f"{path} is not valid JSON ({_short(error)}); repair it, or name it .jsonl if it "
            "holds one object a line"
        ) from error
    return (Row(number, row) for number, row in enumerate(_records(value, path), start=1))


def _records(value: Any, path: Path) -> list[Any]:
    """A list of rows, bare or under one key, or columns of equal length."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        raise FormatError(f"{path} holds a bare {type(value).__name__}; it must hold a list")
    lists = [entry for entry in value.values() if isinstance(entry, list)]
    if len(lists) == 1 and lists[0] and isinstance(lists[0][0], dict):
        return lists[0]
    if lists and len(lists) == len(value) and len({len(column) for column in lists}) == 1:
        return [dict(zip(value, cells, strict=True)) for cells in zip(*lists, strict=True)]
    return [value]


def _csv(path: Path, delimiter: str = ",") -> Iterator[Row]:
    csv.field_size_limit(MAX_CELL)
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        reader = csv.DictReader(file, delimiter=delimiter, strict=True)
        try:
            for number, row in enumerate(reader, start=1):
                extra = row.pop(None, None)  # pyright: ignore[reportArgumentType, reportCallIssue]
                short = None in row.values()
                yield Row(number, "more or fewer cells than columns" if extra or short else row)
        except csv.Error as error:
            raise FormatError(
                f"line {reader.line_num} of {path} is not valid CSV ({error}); repair it"
            ) from error


def _tsv(path: Path) -> Iterator[Row]:
    return _csv(path, "\t")


def _parquet(path: Path) -> Iterator[Row]:
    try:
        import pyarrow.parquet as pq
        from pyarrow import ArrowException
    except ImportError as error:
        raise FormatError(
            f"{path} is Parquet, which needs the package pyarrow; install hara-viz[run]"
        ) from error
    try:
        number = 0
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH):
                for value in batch.to_pylist():
                    number += 1
                    yield Row(number, value)
    except (ArrowException, OSError) as error:
        raise FormatError(
            f"{path} is no readable Parquet file ({_short(error)}); write it again"
        ) from error


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:160]


READERS = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _tsv,
    ".parquet": _parquet,
}
