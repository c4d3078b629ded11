"""Entropic transport of R rollouts onto K points, batched: min ⟨M_r, π⟩ + ε KL(π ‖ p qᵀ), (5).

Sweeps run in the kernel domain, which is about ten times quicker than the log domain. Three things
keep them exact at small ε: each kernel row is scaled by its own maximum, the column factors are
absorbed into the potentials when they grow, and a column that underflows (a cluster that one
rollout never visits) is updated once in the log domain. Where sweeps crawl, damped Newton
steps on the same problem take over.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.ot.newton import newton

# Kernel entries below e^-50 of their row's maximum become exact zeros: they carry no mass that
# float32 could see, and subnormal numbers made a sweep twenty times slower.
_CUT = 50.0
# Column factors are absorbed before they leave e^±25, where products could overflow float32.
_ABSORB = 25.0
# A column that keeps less than this share of its mass is updated in the log domain.
_UNDERFLOW = 1e-12
# Over-relaxed sweeps halve their number; the first ones are plain, since far from the solution
# over-relaxation can diverge.
_RELAXATION, _PLAIN_SWEEPS = 1.6, 2
# A Newton step costs about as much as ten sweeps, and ten to twenty of them end any solve.
_MAX_SWEEPS, _MAX_STEPS = 40, 60
# Near the end each step squares the error, so Newton goes further than asked: the plans then hang
# less on the step at which it happened to stop.
_NEWTON_SHARE = 0.03


@dataclass(frozen=True, slots=True)
class SinkhornSolution:
    """Plans and the potentials to start the next solve from."""

    plans: Tensor
    """[R, T, K]; row sums are exactly the mass, since a solve ends on the row update."""
    potentials: Tensor
    """[R, K]: the column potential g, in units of the cost."""
    marginal_error: float
    """max_r Σ_k |Σ_i π_r[i, k] − 1/K|."""
    sweeps: int
    newton_steps: int = 0


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
        potentials: g [R, K] of an earlier solve, as warm start.
        tolerance: stop when the marginal error is below it.
        max_sweeps: go over to Newton steps after so many.
        max_steps: give up after so many; the error says how far it came.
    """
    g = torch.zeros_like(cost[:, 0]) if potentials is None else potentials
    sweeps = 0
    while True:
        kernel = _stabilised_kernel(cost, g, epsilon)
        outcome = _sweep(kernel, mass, tolerance, max_sweeps - sweeps)
        sweeps += outcome.sweeps
        g = g + epsilon * outcome.log_factors
        if outcome.error < tolerance or (sweeps >= max_sweeps and max_steps == 0):
            return SinkhornSolution(outcome.plans(kernel), g, outcome.error, sweeps)
        if sweeps >= max_sweeps:
            state, steps = newton(
                cost, mass, epsilon, g, tolerance=_NEWTON_SHARE * tolerance, max_steps=max_steps
            )
            return SinkhornSolution(
                state.plans, state.potentials, state.marginal_error, sweeps, steps
            )
        if outcome.underflow:
            g = _log_sweep(cost, mass, g, epsilon)
            sweeps += 1


def _stabilised_kernel(cost: Tensor, g: Tensor, epsilon: float) -> Tensor:
    logits = (g[:, None, :] - cost).div_(epsilon)
    logits -= logits.amax(-1, keepdim=True)
    kernel = logits.clamp_(min=-_CUT - 1).exp_()
    return torch.threshold_(kernel, 2.0**-72, 0.0)  # 2^-72 ≈ e^-50


@dataclass(frozen=True, slots=True)
class _Sweeps:
    rows: Tensor  # u [R, T]
    columns: Tensor  # v [R, K]
    error: float
    sweeps: int
    underflow: bool

    @property
    def log_factors(self) -> Tensor:
        return self.columns.log()

    def plans(self, kernel: Tensor) -> Tensor:
        return kernel.mul_(self.columns[:, None, :]).mul_(self.rows[..., None])


def _sweep(kernel: Tensor, mass: Tensor, tolerance: float, limit: int) -> _Sweeps:
    """Kernel-domain sweeps until converged, until the factors must be absorbed, or to the limit."""
    n_support = kernel.shape[-1]
    target = 1.0 / n_support
    v = torch.ones_like(kernel[:, 0])
    relaxation, last_error = 1.0, float("inf")
    transposed = kernel.mT
    for sweep in range(1, max(limit, 1) + 1):
        u = mass / torch.bmm(kernel, v[..., None])[..., 0]
        columns = v * torch.bmm(transposed, u[..., None])[..., 0]
        error = float((columns - target).abs().sum(-1).max())
        if error < tolerance or sweep >= limit:
            return _Sweeps(u, v, error, sweep, underflow=False)
        if float(columns.min()) < _UNDERFLOW * target:
            return _Sweeps(u, v, error, sweep, underflow=True)
        if sweep > _PLAIN_SWEEPS:
            relaxation = _RELAXATION if error < last_error else 1.0
        last_error = error
        grown = v * (target / columns).pow(relaxation)
        if float(grown.log().abs().max()) > _ABSORB:
            return _Sweeps(u, grown, error, sweep, underflow=False)
        v = grown
    raise AssertionError("the loop returns at its limit")


def _log_sweep(cost: Tensor, mass: Tensor, g: Tensor, epsilon: float) -> Tensor:
    """One exact row and column update in the log domain; returns the new g [R, K]."""
    logits = (g[:, None, :] - cost) / epsilon
    logits = logits - logits.logsumexp(-1, keepdim=True) + mass.log()[..., None]
    log_columns = logits.logsumexp(1)
    n_support = cost.shape[-1]
    return g - epsilon * (log_columns + torch.log(torch.tensor(float(n_support))).to(cost))
