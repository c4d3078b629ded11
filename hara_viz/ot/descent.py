"""What a descent of (5) answers, however it was run."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Descent:
    """How far R rollouts came from some potentials, with the kernel that belongs to these."""

    plans: Tensor
    """[R, T, K]; row sums are exactly the mass."""
    potentials: Tensor
    """g/ε [R, K] that belong to the plans."""
    column_mass: Tensor
    """m_r[k] = Σ_i π_r[i, k]: [R, K]."""
    errors: Tensor
    """[R]: Σ_k |m_r[k] − q_k|."""
    starved: Tensor
    """Rows [n] in which a column of the kernel underflows: nothing was done for them."""
    far: Tensor
    """Rows [m] that have gone as far as their kernel can tell, and are not there yet."""
    sweeps: int
    steps: int
    """The most that a rollout took."""
