"""TEXT: a completion as people read it. Stdlib only; a tokenizer is one `decode` callable.

| file | question |
|---|---|
| `cells.py` | which stretch of text does each token stand for? |
| `spans.py` | what does a verifier see, and where is its span in the full text? |
| `steps.py` | where does one step of the reasoning end? |
| `boxed.py` | which answers stand in boxes of LaTeX? |
| `think.py` | which stretches are thinking, which are the answer? |
| `terminal.py` | how is hostile text shown without doing anything? |

All offsets are code points of `completion_text` = decode(ids) with special tokens kept and without
clean-up of spaces. This room knows no model, no reward and no browser.
"""

from hara_viz.text.cells import Cell, Cells, cell_range, cells_of, cut_cells
from hara_viz.text.spans import CutText, Span, without_special
from hara_viz.text.steps import reasoning_steps, split_steps
from hara_viz.text.terminal import inert, plain
from hara_viz.text.think import think_regions

__all__ = [
    "Cell",
    "Cells",
    "CutText",
    "Span",
    "cell_range",
    "cells_of",
    "cut_cells",
    "inert",
    "plain",
    "reasoning_steps",
    "split_steps",
    "think_regions",
    "without_special",
]
