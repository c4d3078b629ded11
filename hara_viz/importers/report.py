"""What an import found, in plain data and in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

_SHOWN = 6
"""Sizes of groups that are named, the frequent ones first."""


class LeftOut(NamedTuple):
    """Rows or files that were left out for one reason."""

    reason: str
    count: int
    example: str
    """Where the first one stands, and what it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What a source holds, as far as it was read."""

    source: str
    format: str
    label: str
    n_files: int
    n_rows: int
    """Records read, those left out included."""
    n_rollouts: int
    n_groups: int
    steps: tuple[int, ...]
    """Training steps, in order; empty: none is named."""
    group_sizes: Mapping[int, int]
    """Size -> groups of it."""
    grouped_by: str
    """How groups were formed, one sentence."""
    skipped: tuple[LeftOut, ...]
    files_left_out: tuple[LeftOut, ...]
    missing: tuple[str, ...]
    """What the dump does not tell, in a few words each."""
    warnings: tuple[str, ...]
    rewards: tuple[float, float] | None
    """The lowest and the highest; None: nothing is scored."""
    needs_tokenizer: bool
    """Whether it cannot be imported without a checkpoint's tokenizer."""
    whole: bool = True
    """False: a look that stopped early; the counts are of the beginning."""

    def to_json(self) -> dict[str, Any]:
        """Plain data for a file."""
        values = asdict(self)
        values["group_sizes"] = {str(size): n for size, n in self.group_sizes.items()}
        for name in ("skipped", "files_left_out"):
            values[name] = [left._asdict() for left in getattr(self, name)]
        return values

    @property
    def step_words(self) -> str:
        """The training steps in a few words."""
        if not self.steps:
            return "no training step named"
        if len(self.steps) == 1:
            return f"step {self.steps[0]}"
        return f"{len(self.steps)} steps, {self.steps[0]} to {self.steps[-1]}"

    @property
    def size_words(self) -> str:
        """The sizes of groups in a few words, as in "12 groups of 8, 1 group of 3"."""
        sizes = sorted(self.group_sizes.items(), key=lambda item: -item[1])
        words = [f"{n:,} group{'' if n == 1 else 's'} of {size}" for size, n in sizes[:_SHOWN]]
        return ", ".join(words) + (", …" if len(sizes) > _SHOWN else "")

    def sentences(self) -> tuple[str, ...]:
        """The report for people, one sentence each."""
        begun = "" if self.whole else "the first "
        said = [
            f"{self.label}: {begun}{self.n_rows:,} rows of {self.n_files:,} file(s) hold "
            f"{self.n_rollouts:,} rollouts in {self.n_groups:,} groups ({self.step_words}).",
            f"Groups: {self.grouped_by} Sizes: {self.size_words}.",
        ]
        if self.missing:
            said.append(f"Not in the dump: {'; '.join(self.missing)}.")
        for left in self.skipped:
            said.append(f"Skipped {left.count:,} row(s): {left.reason} (first: {left.example}).")
        for left in self.files_left_out:
            said.append(
                f"Passed over {left.count:,} file(s): {left.reason} (first: {left.example})."
            )
        return (*said, *(f"Mind: {warning}" for warning in self.warnings))
