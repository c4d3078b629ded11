"""A problem file to a `ProblemSet`: find the layout, read row by row, keep each problem once."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path

from hara_viz.errors import FormatError, InvalidInputError
from hara_viz.problems.cells import Cells, UnusableRowError, lower_case
from hara_viz.problems.formats import LAYOUTS, Layout
from hara_viz.problems.formats.mapped_columns import layout_of
from hara_viz.problems.problem_set import ColumnMap, ProblemSet, SkippedRow
from hara_viz.problems.tables import Row, read_rows
from hara_viz.types import Problem

LOOKED_AT = 32
"""Rows among which one must be of a known layout; single rows may well lack a column."""


def load_problems(
    path: str | Path, *, columns: ColumnMap | None = None, limit: int | None = None
) -> ProblemSet:
    """Read a problem set from JSON lines, JSON, CSV, TSV or Parquet.

    Rows that hold no problem are skipped and counted with the reason; rows that repeat a problem
    are counted. A file that is broken anywhere up to the limit is refused as a whole.

    Args:
        path: the file.
        columns: which columns hold what; None finds a known layout.
        limit: the number of problems after which reading stops.

    Raises:
        MissingInputError: there is no such file.
        FormatError: the file is empty, broken, of unknown columns, or without a usable row.
        InvalidInputError: the limit is below 1.
    """
    if limit is not None and limit < 1:
        raise InvalidInputError(f"limit is {limit}; it must be at least 1 problem")
    path = Path(path)
    rows = read_rows(path)
    looked_at = list(islice(rows, LOOKED_AT))
    layout = _layout(path, looked_at, columns)
    reading = _Reading(layout)
    for row in chain(looked_at, rows):
        reading.add(row)
        if len(reading.problems) == limit:
            break
    if not reading.problems:
        row, why = reading.skipped[0]
        raise FormatError(
            f"none of the {reading.n_rows} rows of {path} holds a problem (row {row}: {why}); "
            "correct the file or name its columns (question=COLUMN,gold=COLUMN)"
        )
    return reading.result()


def _layout(path: Path, rows: list[Row], columns: ColumnMap | None) -> Layout:
    records = [lower_case(row.value) for row in rows if isinstance(row.value, Mapping)]
    if not rows:
        raise FormatError(f"{path} holds no rows; give a file with at least one problem")
    layouts = LAYOUTS if columns is None else (layout_of(columns),)
    for cells in records:
        for layout in layouts:
            if layout.recognises(cells):
                return layout
    raise FormatError(_unknown_columns(path, records, columns))


def _unknown_columns(
    path: Path, records: list[dict[str, object]], columns: ColumnMap | None
) -> str:
    found = list(dict.fromkeys(chain.from_iterable(records)))
    shown = ", ".join(found[:12]) + (", …" if len(found) > 12 else "")
    if not found:
        return f"the rows of {path} are no records; each must be an object with named columns"
    if columns is not None:
        wanted = " or ".join(name for name in (columns.question, columns.gold) if name)
        return f"{path} has no filled columns {wanted}; it has {shown}"
    return (
        f"the columns of {path} ({shown}) are of no known layout; name the ones that hold question "
        "and answer (question=COLUMN,gold=COLUMN)"
    )


class _Reading:
    """What has been read so far; one use."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.problems: dict[str, Problem] = {}  # by problem_id, in the file's order
        self.skipped: list[SkippedRow] = []
        self.n_rows = 0
        self.n_duplicates = 0
        self._copies: set[bytes] = set()  # digests of whole usable rows

    def add(self, row: Row) -> None:
        self.n_rows += 1
        # Sets of two million rows with a hundred copies of each exist: exact copies are not read.
        digest = blake2b(repr(row.value).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest in self._copies:
            self.n_duplicates += 1
            return
        try:
            problem = self.layout.read(_cells(row))
        except UnusableRowError as error:
            self.skipped.append(SkippedRow(row.number, str(error)))
            return
        self._copies.add(digest)
        if self.problems.setdefault(problem.problem_id, problem) is not problem:
            self.n_duplicates += 1

    def result(self) -> ProblemSet:
        return ProblemSet(
            problems=tuple(self.problems.values()),
            format=self.layout.name,
            n_rows=self.n_rows,
            n_duplicates=self.n_duplicates,
            skipped=tuple(self.skipped),
        )


def _cells(row: Row) -> Cells:
    if isinstance(row.value, Mapping):
        return lower_case(row.value)
    what = row.value if isinstance(row.value, str) else f"{type(row.value).__name__}, not a record"
    raise UnusableRowError(f"the row is no record: {str(what)[:80]}")
