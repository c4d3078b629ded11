"""What a descent of (5) answers, however it was run."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Descent:
    """How far R rollouts came from some potentials, with the kernel that belongs to these."""

    plans: Tensor
    """[R, T, K]; row sums are exactly the mass."""
    log_v: Tensor
    """[R, K]: column factors, to be added to the potentials."""
    errors: Tensor
    """[R]: Σ_k |Σ_i π_r[i, k] − q_k|."""
    starved: Tensor
    """[R]: a column of the kernel underflows, so the descent has to begin elsewhere."""
    sweeps: int
    steps: int
    """The most that a rollout took."""
