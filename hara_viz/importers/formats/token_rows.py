"""Whole sequences with a mask of what was sampled, as several frameworks write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from hara_viz.importers.foreign import UnusableRowError


class Cut(NamedTuple):
    """Where a sequence's completion begins and ends."""

    start: int
    end: int


def cut_at_mask(mask: Sequence[bool]) -> Cut:
    """From the first to the last sampled token; what follows the last one taught nothing.

    Raises:
        UnusableRowError: none was sampled, or there is no prompt.
    """
    sampled = [place for place, own in enumerate(mask) if own]
    if not sampled:
        raise UnusableRowError("no token was sampled")
    if sampled[0] == 0:
        raise UnusableRowError("the sequence begins with a sampled token, so it has no prompt")
    return Cut(sampled[0], sampled[-1] + 1)


def masked(values: Sequence[float] | None, mask: Sequence[bool], fill: float) -> (
    tuple[float, ...] | None
):  # fmt: skip
    """The values where a token was sampled, `fill` elsewhere."""
    if values is None:
        return None
    return tuple(v if own else fill for v, own in zip(values, mask, strict=True))


def scattered(values: Sequence[float], mask: Sequence[bool], fill: float, what: str) -> list[float]:
    """Values that stand for sampled tokens alone, over all tokens.

    Raises:
        UnusableRowError: there is not one value for each sampled token.
    """
    if len(values) != sum(mask):
        raise UnusableRowError(
            f"{what} and sampled tokens differ in number", f"{len(values)} for {sum(mask)}"
        )
    rest = iter(values)
    return [next(rest) if own else fill for own in mask]


NAN = math.nan
