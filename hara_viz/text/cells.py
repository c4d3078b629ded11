"""Display cells: which stretch of the whole text each token stands for.

The text is the decoding of *all* ids, because tokens decoded one by one lose half characters and
joining spaces. A boundary between two tokens is a boundary of the text only where the tokens up to
it decode to a prefix of that text; tokens between two such boundaries share one cell. A cell is
never cut inside a user-perceived character either, so a combining mark, a joined emoji or a flag
stands in one cell with what it belongs to.

Cost: a few decodes of short windows for each *distinct* token, so linear in T.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import NamedTuple

from hara_viz.errors import ShapeError

Decode = Callable[[Sequence[int]], str]

# A character takes at most four byte tokens; the rest is slack for decoders that join words.
# Beyond it the window doubles, so a decoder that never agrees still costs linear time.
FINE_WINDOW = 16
REPLACEMENT = "\ufffd"
ZWJ = "\u200d"


class Cells(NamedTuple):
    """The text of a completion and where each token's cell begins in it."""

    text: str
    """decode(all ids)."""
    cell_start: tuple[int, ...]
    """Per token: first code point of its display cell; never decreasing; equal = one cell."""


class Cell(NamedTuple):
    """A stretch of text and the tokens that share it. Ends are exclusive."""

    start: int
    end: int
    first_token: int
    last_token: int
    special: bool
    """A marker such as an end of turn, not text that a verifier should see."""


def cut_cells(ids: Sequence[int], decode: Decode, special_ids: Collection[int]) -> Cells:
    """Decode `ids` as a whole and find each token's display cell.

    Args:
        ids: token ids of one completion, [T].
        decode: ids -> text, keeping special tokens, without clean-up of spaces.
        special_ids: ids that are markers; such a token has a cell of its own.

    A token without text of its own (half a character, an unknown id) joins the cell before it,
    or the one after it where that is a marker or nothing.
    """
    ids = list(ids)
    special = frozenset(special_ids)
    text = decode(ids)
    ends = _token_ends(ids, decode, text)
    starts: list[int] = []
    cell, previous_end, after_marker = 0, 0, True
    for token, end in zip(ids, ends, strict=True):
        marker = token in special
        empty = end == previous_end
        joins = not after_marker and (empty or _continues(text, cell, previous_end))
        if marker or not joins:
            cell = previous_end
        starts.append(cell)
        if not empty or marker:
            after_marker = marker
        previous_end = end
    return Cells(text, tuple(starts))


def cells_of(
    text: str, cell_start: Sequence[int], ids: Sequence[int], special_ids: Collection[int]
) -> tuple[Cell, ...]:
    """The cells of a stored completion, without its tokenizer.

    They cover `text` and the tokens in order, without gap or overlap.

    Raises:
        ShapeError: `cell_start` does not fit `ids` or `text`.
    """
    _check_starts(text, cell_start, ids)
    if not ids:
        return ()
    special = frozenset(special_ids)
    firsts = [t for t, s in enumerate(cell_start) if t == 0 or s != cell_start[t - 1]]
    lasts = [*firsts[1:], len(ids)]
    return tuple(
        Cell(
            start=cell_start[first],
            end=cell_start[last] if last < len(ids) else len(text),
            first_token=first,
            last_token=last,
            special=not special.isdisjoint(ids[first:last]),
        )
        for first, last in zip(firsts, lasts, strict=True)
    )


def cell_range(cells: Sequence[Cell], start: int, end: int) -> tuple[int, int]:
    """Numbers (first, last exclusive) of the cells that a span of the text touches."""
    begins = [cell.start for cell in cells]
    first = max(bisect_right(begins, start) - 1, 0)
    last = bisect_right(begins, max(end - 1, start))
    return first, max(last, first)


def _check_starts(text: str, cell_start: Sequence[int], ids: Sequence[int]) -> None:
    if len(cell_start) != len(ids):
        raise ShapeError(
            f"cell_start has {len(cell_start)} values for {len(ids)} tokens; it needs one each"
        )
    if not ids:
        if text:
            raise ShapeError(
                f"a completion of no tokens has {len(text)} characters of text; "
                "cut the cells again from the token ids"
            )
        return
    ordered = all(a <= b for a, b in pairwise(cell_start))
    if cell_start[0] != 0 or cell_start[-1] > len(text) or not ordered:
        raise ShapeError(
            f"cell_start must rise from 0 to at most {len(text)} (the text's length), but it runs "
            f"from {cell_start[0]} to {cell_start[-1]}{'' if ordered else ' and falls in between'};"
            " cut the cells again from the token ids"
        )


def _token_ends(ids: Sequence[int], decode: Decode, text: str) -> list[int]:
    """Per token: the end of the text its group of tokens stands for, [T].

    A group is the shortest run of tokens from one agreed boundary to the next; the tokens before
    its last one have no end of their own yet, so they end where the group begins.
    """
    ends: list[int] = []
    pieces: dict[int, str] = {}  # what a token added the last time it stood at a boundary
    context = begin = position = 0
    while begin < len(ids):
        piece = pieces.get(ids[begin])
        if piece is not None and text.startswith(piece, position):
            length, n_tokens = len(piece), 1
        else:
            length, n_tokens = _next_group(ids, decode, text, context, begin, position)
            added = text[position : position + length]
            # At the start of a text some decoders strip a space, so nothing is learnt there.
            if n_tokens == 1 and begin > 0 and added and REPLACEMENT not in added:
                pieces[ids[begin]] = added
        # All tokens of a group begin at `position`; the first one takes the text.
        ends.extend([position + length] * n_tokens)
        context, begin, position = begin, begin + n_tokens, position + length
    return ends


def _next_group(
    ids: Sequence[int], decode: Decode, text: str, context: int, begin: int, position: int
) -> tuple[int, int]:
    """Length of text and number of tokens of the shortest agreeing group at `begin`.

    `context` is an earlier boundary: decoding from there gives the group its left neighbour.
    """
    remaining = len(ids) - begin
    base = decode(ids[context:begin]) if begin > context else ""
    n_tokens = 1
    while n_tokens < remaining:
        window = decode(ids[context : begin + n_tokens])
        added = window[len(base) :]
        if window.startswith(base) and text.startswith(added, position):
            return len(added), n_tokens
        n_tokens = n_tokens + 1 if n_tokens < FINE_WINDOW else 2 * n_tokens
    return len(text) - position, remaining


def _continues(text: str, cell: int, at: int) -> bool:
    """Does `at` lie inside a user-perceived character of the cell that began at `cell`?"""
    if not 0 < at < len(text):
        return False
    before, here = text[at - 1], text[at]
    if before.isspace() and before != " ":
        return False
    return _extends(here) or before == ZWJ or _splits_flag(text, cell, at)


def _extends(char: str) -> bool:
    code = ord(char)
    return (
        unicodedata.category(char) in {"Mn", "Mc", "Me"}
        or char == ZWJ
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tags of subdivision flags
        or 0x1160 <= code <= 0x11FF  # vowels and finals of decomposed Hangul
    )


def _splits_flag(text: str, cell: int, at: int) -> bool:
    """A flag is two regional indicators; an odd number before `at` leaves one waiting."""
    if not _is_indicator(text[at]):
        return False
    first = at  # no flag is cut before `cell`, so counting from there is enough
    while first > cell and _is_indicator(text[first - 1]):
        first -= 1
    return (at - first) % 2 == 1


def _is_indicator(char: str) -> bool:
    return 0x1F1E6 <= ord(char) <= 0x1F1FF
