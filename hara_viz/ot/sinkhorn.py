"""Entropic transport of R rollouts onto K points, batched: min ⟨M_r, π⟩ + ε KL(π ‖ p qᵀ), (5).

Everything runs in the kernel domain, about ten times quicker than the log domain. Three things keep
it exact at small ε: each kernel row is scaled by its own maximum, the column factors are absorbed
into the potentials when they grow, and a column that underflows (a cluster that one rollout never
visits) is updated once in the log domain. A few sweeps lead into the basin of damped Newton steps.

Rollouts do not feel each other: each stops at its own tolerance, so a solve gives a rollout the
same numbers whoever else is in the batch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.ot.newton import Factors, evaluate, newton

# Kernel entries are kept at or above e^-50 of their row's maximum: less mass than float32 can see,
# and subnormal numbers made a sweep twenty times slower.
_CUT = 50.0
# A column that keeps less than this share of its mass is updated in the log domain.
_UNDERFLOW, _MAX_JUMPS = 1e-12, 40
# Over-relaxed sweeps halve their number; the first ones are plain, since far from the solution
# over-relaxation can diverge.
_RELAXATION, _PLAIN_SWEEPS = 1.6, 2
# Errors are looked at only so often: each look makes a GPU wait.
_CHECK = 4
_MAX_SWEEPS, _MAX_STEPS = 8, 60
# Column factors beyond e^±25 are absorbed, products could overflow float32 further out.
_ABSORB, _LARGEST = 25.0, 30.0


@dataclass(frozen=True, slots=True)
class SinkhornSolution:
    """Plans and the potentials to start the next solve from."""

    plans: Tensor
    """[R, T, K]; row sums are exactly the mass, since a solve ends on the row update."""
    potentials: Tensor
    """[R, K]: the column potential g, in units of ε."""
    errors: Tensor
    """[R]: Σ_k |Σ_i π_r[i, k] − q_k|."""
    sweeps: int
    newton_steps: int = 0

    @property
    def marginal_error(self) -> float:
        """The largest of the errors."""
        return float(self.errors.max())


def sinkhorn(
    cost: Tensor,
    mass: Tensor,
    epsilon: float,
    *,
    potentials: Tensor | None = None,
    tolerance: float,
    max_sweeps: int = _MAX_SWEEPS,
    max_steps: int = _MAX_STEPS,
) -> SinkhornSolution:
    """Solve (5) for R rollouts with uniform support weights 1/K.

    Args:
        cost: M [R, T, K]; rows without mass are ignored.
        mass: p [R, T], each row of the batch summing to 1.
        epsilon: absolute entropy weight, > 0.
        potentials: g/ε [R, K] of an earlier solve, as warm start.
        tolerance: stop when the marginal error is below it.
        max_sweeps: go over to Newton steps after so many.
        max_steps: give up after so many; the error says how far it came.
    """
    weights = torch.full_like(cost[:, 0], 1.0 / cost.shape[-1])
    return solve_scaled(
        cost * (-1.0 / epsilon),
        mass,
        weights,
        potentials=potentials,
        tolerance=torch.full_like(cost[:, 0, 0], tolerance),
        max_sweeps=max_sweeps,
        max_steps=max_steps,
    )


def solve_scaled(
    scaled: Tensor,
    mass: Tensor,
    weights: Tensor,
    *,
    potentials: Tensor | None = None,
    tolerance: Tensor,
    max_sweeps: int = _MAX_SWEEPS,
    max_steps: int = _MAX_STEPS,
) -> SinkhornSolution:
    """`sinkhorn` for costs −M/ε [R, T, K], known up to a constant per row.

    Args:
        scaled: −M/ε; not changed.
        mass: p [R, T].
        weights: q [R, K]; columns of weight 0 are padding and get no mass.
        potentials: as in `sinkhorn`.
        tolerance: [R], one for each rollout.
        max_sweeps: as in `sinkhorn`.
        max_steps: as in `sinkhorn`.
    """
    g = torch.zeros_like(weights) if potentials is None else potentials
    sweeps = steps = jumps = 0
    while True:
        kernel = _stabilised_kernel(scaled, g)
        factors, n = _sweep(kernel, mass, weights, tolerance, max_sweeps - sweeps)
        sweeps += n
        starved = (factors.column_mass < _UNDERFLOW * weights).any(-1)
        if jumps < _MAX_JUMPS and bool(starved.any()):
            g = g + factors.log_v
            g = torch.where(starved[:, None], _log_sweep(scaled, mass, weights, g), g)
            jumps += 1
            continue
        factors, n = newton(
            kernel, mass, weights, factors, tolerance=tolerance, max_steps=max_steps - steps
        )
        steps += n
        g = g + factors.log_v
        spent = sweeps >= max_sweeps and steps >= max_steps
        far = factors.log_v.abs().amax(-1) > _ABSORB
        if spent or not bool(((factors.error >= tolerance) & far).any()):
            plans = kernel.mul_(factors.log_v.exp()[:, None]).mul_(factors.u[..., None])
            return SinkhornSolution(plans, g, factors.error, sweeps, steps)


def _stabilised_kernel(scaled: Tensor, g: Tensor) -> Tensor:
    logits = scaled + g[:, None]
    logits -= logits.amax(-1, keepdim=True)
    return logits.clamp_min_(-_CUT).exp_()


def _sweep(
    kernel: Tensor, mass: Tensor, weights: Tensor, tolerance: Tensor, limit: int
) -> tuple[Factors, int]:
    """Sweeps until all have converged, until factors must be absorbed, or to the limit."""
    log_v = torch.zeros_like(weights)
    factors = evaluate(kernel, mass, weights, log_v)
    for sweep in range(1, limit):
        if sweep % _CHECK == 0 and _settled(factors, weights, tolerance):
            return factors, sweep
        exponent = _RELAXATION if sweep > _PLAIN_SWEEPS else 1.0
        ratio = torch.where(weights > 0, weights / factors.column_mass, 1.0)
        log_v = log_v.add(ratio.log_(), alpha=exponent).clamp_(-_LARGEST, _LARGEST)
        factors = evaluate(kernel, mass, weights, log_v)
    return factors, max(limit, 0)


def _settled(factors: Factors, weights: Tensor, tolerance: Tensor) -> bool:
    """Nothing left to do, or nothing to be done with this kernel."""
    return bool(
        (factors.error < tolerance).all()
        | (factors.column_mass < _UNDERFLOW * weights).any()
        | (factors.log_v.abs() > _ABSORB).any()
    )


def _log_sweep(scaled: Tensor, mass: Tensor, weights: Tensor, g: Tensor) -> Tensor:
    """One exact row and column update in the log domain; returns the new g/ε [R, K]."""
    logits = scaled + torch.where(weights > 0, g, -torch.inf)[:, None]
    logits = logits - logits.logsumexp(-1, keepdim=True) + mass.log()[..., None]
    return torch.where(weights > 0, g + weights.log() - logits.logsumexp(1), 0.0)
