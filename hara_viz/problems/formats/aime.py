"""AIME in its many spellings: `problem` and `answer`, an integer from 0 to 999, padded or not."""

from __future__ import annotations

import re

from hara_viz.problems.cells import Cells, gold_of, id_of, prompt_of
from hara_viz.problems.formats.layout import Layout
from hara_viz.types import Problem


def recognises(cells: Cells) -> bool:
    """An integer of three digits at most, and an id or year beside the problem."""
    named = not {"id", "year", "url", "problem_idx"}.isdisjoint(cells)
    return "problem" in cells and named and _is_aime_answer(cells.get("answer"))


def read(cells: Cells) -> Problem:
    """The problem of one row; "033" is 33."""
    answer = gold_of(cells.get("answer"))
    return Problem(
        messages=prompt_of(cells.get("problem")),
        gold=str(int(answer)) if _is_aime_answer(answer) else answer,
        source_id=id_of(cells, "id", "problem_idx", "url"),
    )


def _is_aime_answer(value: object) -> bool:
    return re.fullmatch(r"\s*[0-9]{1,3}\s*", str(value)) is not None


LAYOUT = Layout(name="AIME", recognises=recognises, read=read)
