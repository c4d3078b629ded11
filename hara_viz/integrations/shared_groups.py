"""Groups whose rollouts lie on several processes.

A trainer deals the rows of a batch to its processes in equal contiguous pieces, so a group may
begin on one process and end on another. Only the rows of such groups are sent, and only to the
processes that hold the rest of the group; both sides then compute the same credit and keep their
own rows, so nothing has to be sent back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """How the rows of a global batch are dealt to processes."""

    n_local: int
    """Rows of each process."""
    group_size: int
    """G: rows g·G … (g+1)·G − 1 of the global batch are group g."""
    rank: int = 0
    world_size: int = 1

    @property
    def own_rows(self) -> range:
        """Numbers in the global batch of this process's rows."""
        return self._rows_of(self.rank)

    @property
    def needed_rows(self) -> range:
        """The rows of all groups of which this process holds a part."""
        return self._whole_groups(self.own_rows)

    def group_of(self, row: int) -> int:
        """The group of a global row."""
        return row // self.group_size

    def wanted_by(self, rank: int) -> list[int]:
        """Own rows that another process needs, in order."""
        needed = self._whole_groups(self._rows_of(rank))
        return [row for row in self.own_rows if row in needed]

    def wanted_from(self, rank: int) -> list[int]:
        """Rows of another process that this one needs, in order."""
        needed = self.needed_rows
        return [row for row in self._rows_of(rank) if row in needed]

    @property
    def peers(self) -> list[int]:
        """Processes that hold parts of this process's groups."""
        others = (rank for rank in range(self.world_size) if rank != self.rank)
        return [rank for rank in others if self.wanted_from(rank)]

    def _rows_of(self, rank: int) -> range:
        return range(rank * self.n_local, (rank + 1) * self.n_local)

    def _whole_groups(self, rows: range) -> range:
        size = self.group_size
        first, last = rows.start // size * size, -(-rows.stop // size) * size
        return range(first, min(last, self.world_size * self.n_local))


def exchange(own: Sequence[Tensor], lengths: Sequence[int], deal: Deal) -> dict[int, Tensor]:
    """Per-token values of all needed rows, by global row.

    Args:
        own: one tensor [T_r, …] per own row, all of one dtype and width, on the own device.
        lengths: [world_size · n_local] T_r of all rows, known to all.
        deal: who holds which rows.
    """
    found = dict(zip(deal.own_rows, own, strict=True))
    arriving: list[tuple[list[int], Tensor]] = []
    operations: list[dist.P2POp] = []
    kept: list[Tensor] = []  # what is being sent must outlive the sending
    for peer in deal.peers:
        sent = torch.cat([found[row] for row in deal.wanted_by(peer)]).contiguous()
        rows = deal.wanted_from(peer)
        shape = (sum(lengths[row] for row in rows), *sent.shape[1:])
        # The backend of CPU tensors knows few dtypes, bytes among them.
        device = torch.device("cpu") if dist.get_backend() == "gloo" else sent.device
        buffer = torch.empty(shape, dtype=sent.dtype, device=device)
        kept.append(sent.to(device))
        for operation, tensor in ((dist.isend, kept[-1]), (dist.irecv, buffer)):
            if tensor.numel():
                operations.append(dist.P2POp(operation, tensor.view(torch.uint8), peer))
        arriving.append((rows, buffer))
    if operations:
        for work in dist.batch_isend_irecv(operations):
            work.wait()
    for rows, buffer in arriving:
        parts = buffer.to(own[0].device).split([lengths[row] for row in rows])
        found.update(zip(rows, parts, strict=True))
    return found


def exchange_all(
    own: Mapping[str, Sequence[Tensor]], lengths: Sequence[int], deal: Deal
) -> dict[str, dict[int, Tensor]]:
    """`exchange` for several kinds of values, by name."""
    return {name: exchange(rows, lengths, deal) for name, rows in own.items()}
