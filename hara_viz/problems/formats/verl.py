"""verl: `prompt` in chat turns and the answer in `reward_model.ground_truth`.

The prompt is kept as it is, instructions included: it is what a training would have shown.
"""

from __future__ import annotations

from hara_viz.problems.cells import Cells, UnusableRowError, gold_of, id_of, lookup, prompt_of
from hara_viz.problems.formats.layout import Layout
from hara_viz.types import Problem

MEDIA = ("images", "videos", "audios")


def recognises(cells: Cells) -> bool:
    """A prompt and a reward model."""
    return "prompt" in cells and "reward_model" in cells


def read(cells: Cells) -> Problem:
    """The problem of one row."""
    for column in MEDIA:
        if cells.get(column):
            raise UnusableRowError(f"the problem comes with {column}")
    return Problem(
        messages=prompt_of(cells["prompt"]),
        gold=gold_of(lookup(cells, "reward_model.ground_truth")),
        source_id=id_of(cells, "extra_info.index", "uid", "id"),
    )


LAYOUT = Layout(name="verl", recognises=recognises, read=read)
