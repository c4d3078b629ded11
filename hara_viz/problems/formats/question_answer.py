"""A question and an answer under any of their usual names."""

from __future__ import annotations

from hara_viz.problems.cells import (
    Cells,
    final_answer_of,
    first_column,
    gold_of,
    id_of,
    prompt_of,
)
from hara_viz.problems.formats.layout import Layout
from hara_viz.types import Problem

QUESTION = ("question", "problem", "query", "instruction", "input")
GOLD = (
    "answer", "final_answer", "expected_answer", "ground_truth", "gold", "target", "label",
    "solution", "output", "response",
)  # fmt: skip


def recognises(cells: Cells) -> bool:
    """One column of each kind."""
    return first_column(cells, QUESTION) is not None and first_column(cells, GOLD) is not None


def read(cells: Cells) -> Problem:
    """The problem of one row."""
    gold = gold_of(cells.get(first_column(cells, GOLD) or ""))
    return Problem(
        messages=prompt_of(cells.get(first_column(cells, QUESTION) or "")),
        gold=final_answer_of(gold),
        source_id=id_of(cells, "id", "uid", "unique_id", "index", "idx"),
    )


LAYOUT = Layout(name="question + answer", recognises=recognises, read=read)
