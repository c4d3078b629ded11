"""DAPO-Math: verl's columns with each problem repeated many times, or the flat processed form."""

from __future__ import annotations

from hara_viz.problems.cells import Cells, final_answer_of, gold_of, id_of, prompt_of
from hara_viz.problems.formats import verl
from hara_viz.problems.formats.layout import Layout
from hara_viz.types import Problem


def recognises(cells: Cells) -> bool:
    """Columns of verl with the source math_dapo, or the processed form with its source prompt."""
    raw = verl.recognises(cells) and str(cells.get("data_source", "")).startswith("math_dapo")
    return raw or {"prompt", "solution", "source_prompt"} <= set(cells)


def read(cells: Cells) -> Problem:
    """The problem of one row; the flat prompt is taken, not the one with instructions."""
    if "source_prompt" not in cells:
        return verl.read(cells)
    return Problem(
        messages=prompt_of(cells["prompt"]),
        gold=final_answer_of(gold_of(cells["solution"])),
        source_id=id_of(cells, "extra_info.index", "id"),
    )


LAYOUT = Layout(name="DAPO-Math", recognises=recognises, read=read)
