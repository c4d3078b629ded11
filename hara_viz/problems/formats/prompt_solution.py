"""TRL: `prompt`, as text or chat turns, and the reference in `solution` (or `answer`, …)."""

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

GOLD = ("solution", "ground_truth", "answer", "final_answer", "gold", "target", "label")


def recognises(cells: Cells) -> bool:
    """A prompt and a reference."""
    return "prompt" in cells and first_column(cells, GOLD) is not None


def read(cells: Cells) -> Problem:
    """The problem of one row."""
    gold = gold_of(cells.get(first_column(cells, GOLD) or ""))
    return Problem(
        messages=prompt_of(cells.get("prompt")),
        gold=final_answer_of(gold),
        source_id=id_of(cells, "id", "uid", "index", "idx"),
    )


LAYOUT = Layout(name="prompt + solution", recognises=recognises, read=read)
