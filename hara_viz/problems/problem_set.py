"""What a problem set is once it is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hara_viz.errors import ConfigError
from hara_viz.types import Problem


class SkippedRow(NamedTuple):
    """A row that could not be used."""

    row: int
    """Its number in the file, from 1; for JSON lines the line."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemSet:
    """The usable problems of a file, each once, in the file's order."""

    problems: tuple[Problem, ...]
    format: str
    """Which layout was recognised, for instance "GSM8K"."""
    n_rows: int
    """Rows read: with a limit, fewer than the file has."""
    n_duplicates: int
    """Rows that repeat an earlier problem (same prompt and same answer)."""
    skipped: tuple[SkippedRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMap:
    """Which columns hold what, for files of no known layout.

    A dot reaches into nested records: `reward_model.ground_truth`. Case does not matter.
    """

    question: str
    gold: str | None = None
    """None: the set has no gold answers; rollouts stay unscored."""
    id: str | None = None

    @classmethod
    def parse(cls, text: str) -> ColumnMap:
        """From `question=COLUMN,gold=COLUMN,id=COLUMN`, the last two optional.

        Raises:
            ConfigError: a field is unknown, twice or empty, or the question is missing.
        """
        fields: dict[str, str] = {}
        for pair in text.split(","):
            name, equals, column = (part.strip() for part in pair.partition("="))
            known = name in {"question", "gold", "id"} and name not in fields
            if not (equals and column and known):
                raise ConfigError(
                    f"{pair.strip()!r} of the columns {text!r} is not understood; write "
                    "question=COLUMN,gold=COLUMN,id=COLUMN, each at most once"
                )
            fields[name] = column
        if "question" not in fields:
            raise ConfigError(f"the columns {text!r} name no question; write question=COLUMN")
        return cls(**fields)
