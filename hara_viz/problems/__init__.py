"""PROBLEMS: a problem set's file to `Problem` records.

| file | question |
|---|---|
| `load.py` | the door: which problems does this file hold? |
| `tables.py` | which rows does a JSONL, JSON, CSV or Parquet file hold? |
| `formats/` | which layout is it, and what is a row's question and answer? one file a layout |
| `cells.py` | how is one cell read as prompt, answer or id? |
| `problem_set.py` | the records: `ProblemSet`, `SkippedRow`, `ColumnMap` |

The gold answer is kept as the set writes it, without the rationale around it; the rewards
bring it into the form that their verifier takes.
"""

from hara_viz.problems.load import load_problems
from hara_viz.problems.problem_set import ColumnMap, ProblemSet, SkippedRow

__all__ = ["ColumnMap", "ProblemSet", "SkippedRow", "load_problems"]
