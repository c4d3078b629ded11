"""Columns that the user named."""

from __future__ import annotations

from hara_viz.problems.cells import Cells, final_answer_of, gold_of, id_of, lookup, prompt_of
from hara_viz.problems.formats.layout import Layout
from hara_viz.problems.problem_set import ColumnMap
from hara_viz.types import Problem


def layout_of(columns: ColumnMap) -> Layout:
    """The layout that a column map describes."""

    def recognises(cells: Cells) -> bool:
        wanted = [columns.question] + ([columns.gold] if columns.gold else [])
        return all(lookup(cells, column) is not None for column in wanted)

    def read(cells: Cells) -> Problem:
        gold = columns.gold and final_answer_of(gold_of(lookup(cells, columns.gold)))
        return Problem(
            messages=prompt_of(lookup(cells, columns.question)),
            gold=gold or None,
            source_id=id_of(cells, columns.id) if columns.id else None,
        )

    return Layout(name="named columns", recognises=recognises, read=read)
