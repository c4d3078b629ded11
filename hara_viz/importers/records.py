r"""Files to records, one at a time: JSON lines, JSON, Parquet.

A dump may still be written: half a last line is counted, not an error. JSON lines are split at \n
alone (writers leave U+2028 and U+0085 raw), NaN and Infinity are taken as Python writes them, and
broken bytes become U+FFFD.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hara_viz.errors import FormatError, MissingInputError

MAX_LINE = 2**28
"""Bytes of one record; what is longer is left out, so that no line fills the memory."""
BATCH = 64
"""Rows of Parquet in memory at once."""
READABLE = (".jsonl", ".ndjson", ".json", ".parquet")
_LFS = b"version https://git-lfs"


class Line(NamedTuple):
    """A record, or why there is none."""

    number: int
    value: Any
    """None where `problem` says what is wrong."""
    problem: str | None
    n_bytes: int
    """Of the file, up to here; an estimate for Parquet."""


def read_lines(path: Path) -> Iterator[Line]:
    """The records of a file.

    Raises:
        MissingInputError: there is no such file.
        FormatError: it is of no readable kind, or not what its name says.
    """
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except FileNotFoundError:
        raise MissingInputError(f"there is no file {path}; check the spelling") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read ({error.strerror}); check the file") from error
    if head.startswith(_LFS):
        raise FormatError(f"{path} is only a Git LFS pointer; fetch the file with `git lfs pull`")
    if head.startswith(b"PAR1"):
        return _parquet(path)
    if path.suffix.lower() == ".parquet":
        raise FormatError(f"{path} is no Parquet file, whatever its name; write it again")
    if path.suffix.lower() == ".json" and head.lstrip()[:1] == b"[":
        return _json_list(path)
    return _json_lines(path)


def arrow_types(path: Path) -> Mapping[str, str]:
    """Column -> Arrow type of a Parquet file; empty for any other."""
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return {}
    with _parquet_file(path) as file:
        schema = file.schema_arrow
        return {name: str(schema.field(name).type) for name in dict.fromkeys(schema.names)}


def _json_lines(path: Path) -> Iterator[Line]:
    n_bytes, number = 0, 0
    with path.open("rb") as file:  # text mode would also split at lone carriage returns
        while raw := file.readline(MAX_LINE):
            number += 1
            n_bytes += len(raw)
            whole = raw.endswith(b"\n")
            if len(raw) == MAX_LINE and not whole:
                n_bytes += _skip_line(file)
                yield Line(number, None, f"the line is longer than {MAX_LINE >> 20} MB", n_bytes)
                continue
            content = raw.decode("utf-8", errors="replace").lstrip("\ufeff").strip()
            if content:
                yield _parse(number, content, whole, n_bytes)


def _parse(number: int, content: str, whole: bool, n_bytes: int) -> Line:
    try:
        return Line(number, json.loads(content), None, n_bytes)
    except RecursionError:
        return Line(number, None, "the record is nested too deeply", n_bytes)
    except ValueError:  # also integers of thousands of digits
        broken = "the line is not valid JSON"
        if not whole:
            broken = "the file ends in half a line (a training that still runs?)"
        return Line(number, None, broken, n_bytes)


def _skip_line(file: Any) -> int:
    skipped = 0
    while piece := file.readline(1 << 20):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _json_list(path: Path) -> Iterator[Line]:
    size = path.stat().st_size
    if size > MAX_LINE:
        raise FormatError(
            f"{path} is one JSON list of {size >> 20} MB, which cannot be read piece by piece; "
            "write it as JSON lines, one record a line"
        )
    try:
        records = json.loads(path.read_bytes().decode("utf-8", errors="replace"))
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:120]
        raise FormatError(f"{path} is not valid JSON ({reason}); repair it") from error
    for number, record in enumerate(records, start=1):
        yield Line(number, record, None, size * number // len(records))


def _parquet(path: Path) -> Iterator[Line]:
    import pyarrow as pa

    size, number = path.stat().st_size, 0
    with _parquet_file(path) as file:
        n_rows = file.metadata.num_rows
        try:
            for batch in file.iter_batches(batch_size=BATCH):
                # A column that comes twice would be lost in a dict; the last one stays.
                for record in batch.to_pylist():
                    number += 1
                    yield Line(number, record, None, size * number // max(n_rows, 1))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise FormatError(_unreadable(path, error)) from error


def _parquet_file(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise FormatError(_unreadable(path, error)) from error


def _unreadable(path: Path, error: Exception) -> str:
    reason = " ".join(str(error).split())[:120]
    return f"{path} is no readable Parquet file ({reason}); write it again"
