"""GSM8K: `question`, and `answer` with a rationale that ends in `#### 42`."""

from __future__ import annotations

from hara_viz.problems.cells import (
    Cells,
    UnusableRowError,
    final_answer_of,
    gold_of,
    id_of,
    prompt_of,
)
from hara_viz.problems.formats.layout import Layout
from hara_viz.types import Problem


def recognises(cells: Cells) -> bool:
    """The hash marks in the answer tell it from other question/answer sets."""
    return "question" in cells and "####" in str(cells.get("answer", ""))


def read(cells: Cells) -> Problem:
    """The problem of one row."""
    rationale = gold_of(cells.get("answer"))
    if "####" not in rationale:
        raise UnusableRowError("the answer has no ####, so its result is unknown")
    return Problem(
        messages=prompt_of(cells.get("question")),
        gold=final_answer_of(rationale),
        source_id=id_of(cells, "id", "index", "idx"),
    )


LAYOUT = Layout(name="GSM8K", recognises=recognises, read=read)
