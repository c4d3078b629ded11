"""What became usual between two checkpoints, and what fell out of use.

A token's cost against a barycenter says how far it lies from what that policy repeats. Levels
cannot be compared between barycenters, so both are ranked over the same tokens, those of both
policies:

    change = rank(cost against A's pattern) − rank(cost against B's pattern),   in (−1, 1)

Positive: the token was novel for A and is usual for B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hara_viz.analysis.spans import TokenSpan, top_spans
from hara_viz.errors import ShapeError


@dataclass(frozen=True, slots=True)
class UsageSide:
    """The rollouts of one checkpoint."""

    rows: tuple[int, ...]
    """Rows of its group."""
    rank_a: tuple[np.ndarray, ...]
    """By row, [T_own] in (0, 1): how novel each token is against A's pattern."""
    rank_b: tuple[np.ndarray, ...]
    """Against B's."""

    @property
    def change(self) -> tuple[np.ndarray, ...]:
        """By row, [T_own]: positive where what was novel for A is usual for B."""
        return tuple(a - b for a, b in zip(self.rank_a, self.rank_b, strict=True))


@dataclass(frozen=True, slots=True)
class Usage:
    """Both checkpoints' rollouts of one outcome."""

    a: UsageSide
    b: UsageSide

    def became_usual(self, top: int = 8, window: int = 6) -> tuple[TokenSpan, ...]:
        """Spans of B's rollouts that A's pattern finds novel and B's own usual."""
        return _spans(self.b, 1.0, top, window)

    def no_longer_novel(self, top: int = 8, window: int = 6) -> tuple[TokenSpan, ...]:
        """Spans of A's rollouts that were novel there and are usual for B."""
        return _spans(self.a, 1.0, top, window)

    def out_of_use(self, top: int = 8, window: int = 6) -> tuple[TokenSpan, ...]:
        """Spans of A's rollouts that were usual there and are novel for B."""
        return _spans(self.a, -1.0, top, window)


def usage(
    costs: Sequence[Sequence[Sequence[np.ndarray]]], rows: Sequence[tuple[int, ...]]
) -> Usage:
    """Ranks of costs over the tokens of both checkpoints.

    Args:
        costs: [whose tokens][whose pattern] -> by rollout, [T_own].
        rows: [whose tokens] -> the rollouts' rows of their group.

    Raises:
        ShapeError: the rollouts do not fit each other.
    """
    lengths = [[[len(c) for c in pattern] for pattern in whose] for whose in costs]
    if any(len(whose) != 2 or whose[0] != whose[1] for whose in lengths) or len(costs) != 2:
        raise ShapeError(f"costs of rollouts of {lengths} tokens do not fit each other")
    ranks = [_ranks([*costs[0][pattern], *costs[1][pattern]]) for pattern in (0, 1)]
    n_a = len(costs[0][0])
    first, second = (
        UsageSide(tuple(own), tuple(ranks[0][part]), tuple(ranks[1][part]))
        for own, part in zip(rows, (slice(0, n_a), slice(n_a, None)), strict=True)
    )
    return Usage(first, second)


def _ranks(parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Mid-ranks over all parts together, divided by their number."""
    values = np.concatenate(parts)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2.0
    ranks = middle[inverse] / max(len(values), 1)
    return np.split(ranks, np.cumsum([len(part) for part in parts])[:-1])


def _spans(side: UsageSide, sign: float, top: int, window: int) -> tuple[TokenSpan, ...]:
    """`TokenSpan.row` is a row of the group, tokens count own ones."""
    changes = side.change
    values = np.concatenate(changes) if changes else np.zeros(0)
    offsets = [0, *np.cumsum([len(change) for change in changes]).tolist()]
    found = top_spans(np.maximum(sign * values, 0.0), offsets, top=top, window=window)
    return tuple(span._replace(row=side.rows[span.row]) for span in found)
