"""Smaller states: a seeded random projection, with the error it makes measured and kept.

Distances between states are all that credit reads, and a Gaussian projection to d dimensions keeps
each within a relative error of about 1/√(2d) (Johnson and Lindenstrauss). The matrix depends on
(seed, D, d) alone, so all parts of a run and all runs with one seed share a space.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from hara_viz.errors import InvalidInputError
from hara_viz.types import HiddenStates, Projection

N_PAIRS = 2000
"""Pairs of states whose distances are compared."""


def project_states(states: HiddenStates, size: int, *, seed: int = 0) -> HiddenStates:
    """States [N, D] -> [N, size]; the same matrix for equal (seed, D, size).

    Args:
        states: of one layer, not projected yet.
        size: dimensions afterwards, 1 ≤ size < D.
        seed: of the matrix.

    Raises:
        InvalidInputError: the size is out of range, or the states are projected already.
    """
    width = states.states.shape[1]
    if states.projection is not None:
        raise InvalidInputError("these states are projected already; take the originals")
    check_size(size, width)
    full = states.states.float()
    small = full @ projection_matrix(width, size, seed)
    error = distance_error(full, small, seed)
    return replace(
        states,
        states=small,
        projection=Projection(source_size=width, seed=seed, error=error),
    )


def check_size(size: int, width: int) -> None:
    """Refuse a projection that does not make states of `width` dimensions smaller."""
    if not 1 <= size < width:
        raise InvalidInputError(
            f"the projection has size {size}; it must be from 1 to {width - 1}, below the states' "
            f"own {width}"
        )


def projection_matrix(width: int, size: int, seed: int) -> Tensor:
    """[width, size], entries normal with variance 1/size: lengths are kept on average."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(width, size, generator=generator) / size**0.5


def distance_error(full: Tensor, small: Tensor, seed: int) -> float | None:
    """Root mean square of the relative error of distances, over random pairs; None without any."""
    if len(full) < 2:
        return None
    generator = torch.Generator().manual_seed(seed)
    first, second = torch.randint(len(full), (2, N_PAIRS), generator=generator)
    true = (full[first] - full[second]).norm(dim=1)
    apart = true > 0
    if not bool(apart.any()):
        return None
    found = (small[first] - small[second]).norm(dim=1)
    return float(((found - true)[apart] / true[apart]).square().mean().sqrt())
