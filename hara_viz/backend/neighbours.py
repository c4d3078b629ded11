"""The tokens of a group whose hidden states are most like that of one token."""

from __future__ import annotations

from typing import NamedTuple

import torch

from hara_viz.errors import InvalidInputError
from hara_viz.types import HiddenStates


class SimilarToken(NamedTuple):
    """A token of another rollout."""

    row: int
    """The rollout's place in its group."""
    token: int
    similarity: float
    """Cosine of the two states, in [−1, 1]."""


def similar_tokens(
    states: HiddenStates, row: int, token: int, top: int = 6
) -> tuple[SimilarToken, ...]:
    """In each sibling rollout the token most like `token` of `row`, the most similar ones first.

    Works through one rollout at a time: the states of a large group are mapped from disk and never
    brought to full precision whole.

    Args:
        states: of all rollouts of the group, packed.
        row: the rollout of the token.
        token: its position in the completion.
        top: at most this many.

    Raises:
        InvalidInputError: the group has no such token.
    """
    offsets = states.offsets.tolist()
    own = states.states[offsets[row] : offsets[row + 1]]
    if not 0 <= token < len(own):
        raise InvalidInputError(f"rollout {row} has {len(own)} tokens, counted from 0; not {token}")
    direction = _unit(own[token : token + 1])[0]
    found: list[SimilarToken] = []
    for other in range(len(offsets) - 1):
        siblings = states.states[offsets[other] : offsets[other + 1]]
        if other == row or not len(siblings):
            continue
        likeness = _unit(siblings) @ direction
        best = int(likeness.argmax())
        found.append(SimilarToken(other, best, float(likeness[best])))
    return tuple(sorted(found, key=lambda match: -match.similarity)[:top])


def _unit(states: torch.Tensor) -> torch.Tensor:
    """Rows of length 1; a zero vector stays zero, and is like nothing."""
    return torch.nn.functional.normalize(states.float(), dim=-1)
