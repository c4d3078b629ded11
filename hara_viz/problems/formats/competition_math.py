r"""MATH and MATH-500: `problem` and `solution`, with `answer` in the 500 and a box in the solution.

The answer is kept as written; the reward wraps it for the verifier.
"""

from __future__ import annotations

from hara_viz.problems.cells import Cells, final_answer_of, gold_of, id_of, prompt_of
from hara_viz.problems.formats.layout import Layout
from hara_viz.types import Problem


def recognises(cells: Cells) -> bool:
    """A problem with a level, and a subject or type."""
    return {"problem", "level"} <= set(cells) and not {"subject", "type"}.isdisjoint(cells)


def read(cells: Cells) -> Problem:
    """The problem of one row."""
    answer = cells.get("answer")
    return Problem(
        messages=prompt_of(cells.get("problem")),
        gold=final_answer_of(gold_of(cells.get("solution") if answer is None else answer)),
        source_id=id_of(cells, "unique_id", "id"),
    )


LAYOUT = Layout(name="MATH", recognises=recognises, read=read)
