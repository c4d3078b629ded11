"""Words in all completions of a run: a plain search, ignoring case, without an index."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any

from hara_viz.errors import InvalidInputError
from hara_viz.store import Run, open_run
from hara_viz.store.layout import ROLLOUTS
from hara_viz.store.parquet import read_table
from hara_viz.types import GroupKey

CONTEXT = 40
"""Code points shown on either side."""


@dataclass(frozen=True, slots=True)
class TextHit:
    """The first place in a completion that holds the words."""

    key: GroupKey
    sample: int
    token: int | None
    """Where the first one stands; None: this text was never cut into tokens."""
    before: str
    inside: str
    after: str
    n_places: int
    """How often this completion holds them."""


@dataclass(frozen=True, slots=True)
class TextHits:
    """What a search found."""

    hits: tuple[TextHit, ...]
    """One per completion, in the order of the run; the first ones only, where there are many."""
    n_found: int
    """Completions that hold the words."""
    n_searched: int


def search_run(run: Run, words: str, limit: int = 200) -> TextHits:
    """Find words (any text, case ignored) in all completions of a run.

    Args:
        run: an open run.
        words: what to look for; not a pattern.
        limit: at most so many hits are returned; all are counted.

    Raises:
        InvalidInputError: there is nothing to look for.
        FormatError: a file of the run is damaged.
    """
    if not words.strip():
        raise InvalidInputError("there is nothing to look for; type a word")
    pattern = re.compile(re.escape(words), re.IGNORECASE)
    hits: list[TextHit] = []
    found = searched = 0
    columns = ["global_step", "problem_id", "group", "sample", "completion_text"]
    for part in run.parts:
        path = run.path / ROLLOUTS / f"{part}.parquet"
        rows = read_table(path, columns).to_pylist()
        places = {i: [*pattern.finditer(row["completion_text"])] for i, row in enumerate(rows)}
        matched = [i for i, matches in places.items() if matches]
        searched, found = searched + len(rows), found + len(matched)
        wanted = matched[: limit - len(hits)]
        # Cells are most of a part's size: read only where there is something to place.
        starts = read_table(path, ["cell_start"]).to_pydict() if wanted else {}
        cells = starts.get("cell_start") or [None] * len(rows)
        hits += [_hit(rows[i], cells[i], places[i]) for i in wanted]
    return TextHits(tuple(hits), found, searched)


def search_run_at(path: str, stamp: int, words: str, limit: int) -> TextHits:
    """`search_run` by the run's path, for the side process; `stamp` tells growing runs apart."""
    del stamp
    return search_run(open_run(path), words, limit)


def _hit(row: dict[str, Any], starts: list[int] | None, places: list[re.Match[str]]) -> TextHit:
    text, first = row["completion_text"], places[0]
    return TextHit(
        GroupKey(row.get("global_step"), row["problem_id"], row["group"]),
        row["sample"],
        _token_at(starts, first.start()) if starts else None,
        text[max(0, first.start() - CONTEXT) : first.start()],
        first.group(),
        text[first.end() : first.end() + CONTEXT],
        len(places),
    )


def _token_at(starts: list[int], place: int) -> int:
    """The first token of the cell that holds a code point."""
    last = max(bisect_right(starts, place) - 1, 0)
    return bisect_left(starts, starts[last])
