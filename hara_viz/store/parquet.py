"""Parquet files of a run: one row group per group, errors that name the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from hara_viz.errors import FormatError, MissingInputError
from hara_viz.store.files import replacing

_Read = TypeVar("_Read")


def write_tables(
    path: Path, tables: Sequence[pa.Table], metadata: Mapping[str, str] | None = None
) -> None:
    """Write tables of one schema as the row groups of one file, in one piece."""
    schema = tables[0].schema
    with (
        replacing(path) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd", write_page_checksum=True) as writer,
    ):
        for table in tables:
            writer.write_table(table, row_group_size=max(table.num_rows, 1))
        if metadata:
            writer.add_key_value_metadata(dict(metadata))


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A whole file, or those of the named columns that it has.

    Raises:
        MissingInputError, FormatError: It is missing or damaged; both name it.
    """
    with _opened(path) as file:
        present = set(file.schema_arrow.names)
        chosen = None if columns is None else [name for name in columns if name in present]
        return _read(path, lambda: file.read(columns=chosen))


def read_row_group(path: Path, number: int) -> pa.Table:
    """One row group: the rows of one group.

    Raises:
        MissingInputError, FormatError: It is missing or damaged; both name it.
    """
    with _opened(path) as file:
        if not 0 <= number < file.num_row_groups:
            raise FormatError(
                f"{path} has {file.num_row_groups} groups, number {number} was asked for; the "
                "file is not the one that groups.parquet describes"
            )
        return _read(path, lambda: file.read_row_group(number))


def row_group_sizes(path: Path) -> tuple[int, ...]:
    """Rows of each row group, from the footer alone."""
    with _opened(path) as file:
        return tuple(
            file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)
        )


def read_metadata(path: Path) -> dict[str, str]:
    """The key-value metadata that `write_tables` put there."""
    with _opened(path) as file:
        pairs = file.metadata.metadata or {}
        return {k.decode(): v.decode("utf-8", "replace") for k, v in pairs.items()}


def _opened(path: Path) -> pq.ParquetFile:
    return _read(
        path, lambda: pq.ParquetFile(path, memory_map=True, page_checksum_verification=True)
    )


def _read(path: Path, action: Callable[[], _Read]) -> _Read:
    try:
        return action()
    except FileNotFoundError:
        raise MissingInputError(
            f"{path} is missing; restore it, or sample its groups again"
        ) from None
    except (pa.ArrowException, OSError, ValueError) as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FormatError(
            f"{path} is damaged ({first_line}); restore it, or remove it and run the same command "
            "again"
        ) from error
