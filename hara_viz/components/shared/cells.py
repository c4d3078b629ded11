"""A rollout's text as display cells: what is shown for each token, cut in Python."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from hara_viz.text import cells_of, inert
from hara_viz.types import Rollout


class ShownCell(NamedTuple):
    """A piece of text that belongs to one token, or to several that share a character."""

    text: str
    """Without control characters and direction overrides."""
    n_tokens: int
    special: bool
    """A marker, not text."""


def shown_cells(rollout: Rollout, special_ids: Collection[int] = ()) -> tuple[ShownCell, ...]:
    """The cells of a completion; together they hold all its tokens, in order.

    Text that was never cut into cells (imported) is one cell.
    """
    n_tokens = len(rollout.completion_ids)
    if not n_tokens:
        return ()
    starts = rollout.cell_start or (0,) * n_tokens
    cells = cells_of(
        rollout.completion_text, starts, rollout.completion_ids, frozenset(special_ids)
    )
    return tuple(
        ShownCell(
            inert(rollout.completion_text[cell.start : cell.end]),
            cell.last_token - cell.first_token,
            cell.special,
        )
        for cell in cells
    )


def cells_to_json(cells: Collection[ShownCell]) -> list[list[Any]]:
    """Cells as they stand in a frame's header."""
    return [[cell.text, cell.n_tokens, int(cell.special)] for cell in cells]


def cells_from_json(found: list[list[Any]]) -> tuple[ShownCell, ...]:
    """Inverse of `cells_to_json`.

    Raises:
        ValueError: a cell is not what `cells_to_json` writes.
    """
    cells: list[ShownCell] = []
    for text, n_tokens, special in found:
        if not isinstance(n_tokens, int) or n_tokens < 1:
            raise ValueError(f"a cell of {n_tokens!r} tokens")
        cells.append(ShownCell(str(text), n_tokens, bool(special)))
    return tuple(cells)
