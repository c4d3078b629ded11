"""The descent of (5) for all rollouts at once: a few sweeps, then Newton steps.

For GPUs, and for so many columns that their own algebra is what takes time.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hara_viz.ot.descent import Descent
from hara_viz.ot.limits import RULES
from hara_viz.ot.newton import Factors, evaluate, newton


def descend_batched(
    scaled: Tensor,
    potentials: Tensor,
    mass: Tensor,
    weights: Tensor,
    tolerance: Tensor,
    max_sweeps: int,
    max_steps: int,
) -> Descent:
    """See `Descent`."""
    kernel = scaled + potentials[:, None]
    kernel -= kernel.amax(-1, keepdim=True)
    kernel.clamp_min_(RULES.lowest).exp_()
    factors = evaluate(kernel, mass, weights, torch.zeros_like(weights))
    starved = (factors.column_mass < RULES.underflow * weights).any(-1)
    tolerance = torch.where(starved, torch.inf, tolerance)  # they rest
    factors, sweeps = _sweep(kernel, mass, weights, factors, tolerance, max_sweeps)
    factors, steps = newton(
        kernel, mass, weights, factors, tolerance=tolerance, max_steps=max_steps
    )
    plans = kernel.mul_(factors.log_v.exp()[:, None]).mul_(factors.u[..., None])
    far = (factors.error >= tolerance) & (factors.log_v.abs().amax(-1) > RULES.absorb)
    return Descent(
        plans,
        potentials + factors.log_v,
        factors.column_mass,
        factors.error,
        starved.nonzero()[:, 0],
        far.nonzero()[:, 0],
        sweeps,
        steps,
    )


def _sweep(
    kernel: Tensor,
    mass: Tensor,
    weights: Tensor,
    factors: Factors,
    tolerance: Tensor,
    limit: int,
) -> tuple[Factors, int]:
    """Sweeps to the limit; a row rests when it has converged or needs another kernel."""
    log_v, moving = factors.log_v, (weights > 0) & torch.isfinite(tolerance)[:, None]
    for sweep in range(1, limit):
        if sweep % RULES.check == 0:
            far = factors.log_v.abs().amax(-1) > RULES.absorb
            moving = (weights > 0) & ((factors.error >= tolerance) & ~far)[:, None]
            if not bool(moving.any()):
                return factors, sweep
        exponent = RULES.relaxation if sweep > RULES.plain_sweeps else 1.0
        step = torch.where(moving, weights / factors.column_mass, 1.0).log_().mul_(exponent)
        log_v = (log_v + step).clamp_(-RULES.largest, RULES.largest)
        factors = evaluate(kernel, mass, weights, log_v)
    return factors, limit
