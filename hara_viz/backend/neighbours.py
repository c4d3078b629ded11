"""The tokens of a group whose hidden states are most like that of one token."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from hara_viz.errors import InvalidInputError
from hara_viz.types import HiddenStates

_BLOCK = 2**22
"""Numbers that are brought to full precision at once: 16 MB."""


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

    Works through a block of tokens at a time: the states of a large group are mapped from disk and
    never brought to full precision whole. Siblings without a finite cosine are left out.

    Args:
        states: of all rollouts of the group, packed.
        row: the rollout of the token.
        token: its position in the completion.
        top: at most this many.

    Raises:
        InvalidInputError: the group has no such token.
    """
    offsets = states.offsets.tolist()
    n_tokens = offsets[row + 1] - offsets[row] if 0 <= row < len(offsets) - 1 else 0
    if not 0 <= token < n_tokens:
        raise InvalidInputError(f"rollout {row} has {n_tokens} tokens, counted from 0; not {token}")
    likeness = _cosines(states.states, offsets[row] + token)
    found: list[SimilarToken] = []
    for other, (begin, end) in enumerate(pairwise(offsets)):
        if other == row or begin == end:
            continue
        best = int(likeness[begin:end].argmax())
        if np.isfinite(likeness[begin + best]):
            found.append(SimilarToken(other, best, float(likeness[begin + best])))
    return tuple(sorted(found, key=lambda match: -match.similarity)[:top])


def _cosines(states: torch.Tensor, place: int) -> NDArray[np.float32]:
    """Cosine of every row of `states` [N, D] with that at `place`; a zero vector is like nothing.

    −inf where either is not finite, since it overflowed in its model.

    Few calls on large blocks: each may have to wait for the interpreter's lock in a busy server.
    """
    direction = torch.nn.functional.normalize(states[place].float(), dim=0)
    found = []
    for block in states.split(max(1, _BLOCK // states.shape[1])):
        exact = block.float()
        norms = torch.linalg.vector_norm(exact, dim=1).clamp_min_(1e-12)
        found.append((exact @ direction).div_(norms))
    cosines = torch.cat(found)
    return cosines.masked_fill_(~cosines.isfinite(), -torch.inf).numpy()
