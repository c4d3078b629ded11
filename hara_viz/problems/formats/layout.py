"""What a layout of problem sets is: a name, how to recognise a row, and how to read one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hara_viz.problems.cells import Cells
from hara_viz.types import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One way of laying out a problem in columns."""

    name: str
    """For people: what `ProblemSet.format` says."""
    recognises: Callable[[Cells], bool]
    """Whether a row is laid out so; cheap, and never raises."""
    read: Callable[[Cells], Problem]
    """The row's problem; raises UnusableRowError with the reason if it holds none."""
