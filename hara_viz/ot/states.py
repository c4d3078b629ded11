"""The states of R rollouts as an operator: products with supports, sums under plans.

Small groups are kept centred and padded in one block. Large ones stay where the caller has them, in
their own dtype: each pass upcasts and centres a few thousand atoms at a time, which then lie in the
cache when they are multiplied, so no copy of them is ever made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import torch
from torch import Tensor

# A centred copy may take this much; beyond it, passes stream. Fresh memory costs about as much time
# as two passes over it.
_COPY_BYTES = 256 * 2**20
_CHUNK_BYTES = 4 * 2**20


class States(Protocol):
    """Centred states h [R, T, D], zero on padding."""

    def products(self, support: Tensor) -> Tensor:
        """h_i · y_k: [R, T, K] for a support [K, D] or [R, K, D]."""
        ...

    def sums(self, plans: Tensor) -> Tensor:
        """Σ_i π_r[i, k] h_i: [R, K, D] for plans [R, T, K]."""
        ...

    def squared_norms(self) -> Tensor:
        """‖h_i‖² [R, T]."""
        ...

    def padded(self) -> Tensor:
        """h itself, [R, T, D]."""
        ...


class PaddedStates:
    """One centred block [R, T, D]."""

    def __init__(self, block: Tensor) -> None:
        self._block = block

    def products(self, support: Tensor) -> Tensor:
        """See `States`."""
        return torch.bmm(self._block, _each(support, len(self._block)).mT)

    def sums(self, plans: Tensor) -> Tensor:
        """See `States`."""
        return torch.bmm(plans.mT, self._block)

    def squared_norms(self) -> Tensor:
        """See `States`."""
        return torch.linalg.vector_norm(self._block, dim=-1).square_()

    def padded(self) -> Tensor:
        """See `States`."""
        return self._block


class StreamedStates:
    """The caller's tensors [T_r, D], upcast and centred a few thousand atoms at a time."""

    def __init__(self, rows: Sequence[Tensor], center: Tensor, length: int) -> None:
        self._rows, self._center, self._length = rows, center, length
        atom_bytes = center.numel() * center.element_size()
        self._chunk = max(_CHUNK_BYTES // atom_bytes, 256)
        self._buffer = center.new_empty(min(self._chunk, length), center.numel())

    def _chunks(self, r: int) -> Iterator[tuple[slice, Tensor]]:
        h = self._rows[r]
        for start in range(0, len(h), self._chunk):
            part = slice(start, min(start + self._chunk, len(h)))
            buffer = self._buffer[: part.stop - start]
            yield part, buffer.copy_(h[part]).sub_(self._center)

    def products(self, support: Tensor) -> Tensor:
        """See `States`."""
        each = _each(support, len(self._rows))
        found = self._center.new_zeros(len(self._rows), self._length, each.shape[1])
        for r in range(len(self._rows)):
            for part, h in self._chunks(r):
                torch.mm(h, each[r].T, out=found[r, part])
        return found

    def sums(self, plans: Tensor) -> Tensor:
        """See `States`."""
        found = self._center.new_zeros(len(self._rows), plans.shape[2], self._center.numel())
        for r in range(len(self._rows)):
            for part, h in self._chunks(r):
                found[r].addmm_(plans[r, part].T, h)
        return found

    def squared_norms(self) -> Tensor:
        """See `States`."""
        found = self._center.new_zeros(len(self._rows), self._length)
        for r in range(len(self._rows)):
            for part, h in self._chunks(r):
                found[r, part] = torch.linalg.vector_norm(h, dim=-1).square_()
        return found

    def padded(self) -> Tensor:
        """See `States`."""
        block = self._center.new_empty(len(self._rows), self._length, self._center.numel())
        for r, h in enumerate(self._rows):
            torch.sub(h, self._center, out=block[r, : len(h)])
            block[r, len(h) :] = 0.0
        return block


def build_states(rows: Sequence[Tensor], center: Tensor, length: int) -> States:
    """States of rollouts [T_r, D], padded to `length`; `center` [D] is subtracted."""
    n_bytes = len(rows) * length * center.numel() * center.element_size()
    streamed = StreamedStates(rows, center, length)
    return streamed if n_bytes > _COPY_BYTES else PaddedStates(streamed.padded())


def _each(support: Tensor, n_rollouts: int) -> Tensor:
    return support if support.dim() == 3 else support.expand(n_rollouts, -1, -1)
