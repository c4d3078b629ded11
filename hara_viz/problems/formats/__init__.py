"""The known layouts, one small file each, in the order in which they are tried.

The narrow ones come first: DAPO-Math is also verl, MATH and GSM8K are also question + answer. A new
layout is a file with a `LAYOUT` and a line here.
"""

from hara_viz.problems.formats import (
    aime,
    chat_messages,
    competition_math,
    dapo_math,
    gsm8k,
    prompt_solution,
    question_answer,
    verl,
)
from hara_viz.problems.formats.layout import Layout

LAYOUTS: tuple[Layout, ...] = (
    dapo_math.LAYOUT,
    verl.LAYOUT,
    gsm8k.LAYOUT,
    competition_math.LAYOUT,
    aime.LAYOUT,
    prompt_solution.LAYOUT,
    chat_messages.LAYOUT,
    question_answer.LAYOUT,
)

__all__ = ["LAYOUTS", "Layout"]
