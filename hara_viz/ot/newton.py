"""Damped Newton steps on the semi-dual of (5), for where sweeps crawl.

Sinkhorn is block coordinate ascent: between clusters that hardly exchange mass its error falls like
1/n (a thousand sweeps for three digits). The semi-dual has only K unknowns a rollout,

    F(g) = Σ_k q_k g_k − ε Σ_i p_i log Σ_k q_k exp((g_k − M_ik)/ε),     ∇F = q − m,
    −ε ∇²F = diag(m) − Σ_i π_i π_iᵀ / p_i,                              m_k = Σ_i π_ik,

so ten to twenty steps of cost O(TK²) end at any marginal error that floats can tell. At small ε it
is nearly piecewise linear, so steps are damped (Levenberg-Marquardt, per rollout) and bounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

# Damping relative to diag(m): where it starts, and by which factor it moves after a step.
_DAMPING, _FACTOR = 1e-3, 8.0
# No step moves a potential further than this many ε: beyond it the quadratic model says nothing.
_REACH = 20.0


@dataclass(frozen=True, slots=True)
class DualState:
    """The semi-dual at a potential g."""

    potentials: Tensor
    """[R, K]."""
    plans: Tensor
    """[R, T, K]; rows sum to the mass by construction."""
    gradient: Tensor
    """q − m, [R, K]."""
    value: Tensor
    """F up to a constant, [R]."""

    @property
    def marginal_error(self) -> float:
        """max_r Σ_k |m_k − 1/K|."""
        return float(self.gradient.abs().sum(-1).max())


def dual_state(cost: Tensor, mass: Tensor, epsilon: float, potentials: Tensor) -> DualState:
    """Evaluate F and its gradient in the log domain."""
    logits = (potentials[:, None, :] - cost).div_(epsilon)
    normaliser = logits.logsumexp(-1)
    plans = logits.sub_(normaliser[..., None]).exp_().mul_(mass[..., None])
    value = potentials.mean(-1) - epsilon * (mass * normaliser).sum(-1)
    return DualState(potentials, plans, 1.0 / cost.shape[-1] - plans.sum(1), value)


def newton(
    cost: Tensor,
    mass: Tensor,
    epsilon: float,
    potentials: Tensor,
    *,
    tolerance: float,
    max_steps: int,
) -> tuple[DualState, int]:
    """Damped Newton steps from g [R, K] until the marginal error is below the tolerance.

    Returns:
        The last state and the number of steps. It never gets worse than the start: a rollout
        whose step does not help stays where it is, and is damped more.
    """
    state = dual_state(cost, mass, epsilon, potentials)
    damping = torch.full_like(state.value, _DAMPING)
    for step in range(max_steps):
        if state.marginal_error < tolerance:
            return state, step
        trial = dual_state(
            cost, mass, epsilon, state.potentials + epsilon * _direction(state, mass, damping)
        )
        better = _is_better(trial, state)
        state = _choose(better, trial, state)
        damping = torch.where(better, damping / _FACTOR, damping * _FACTOR).clamp(1e-6, 1e3)
    return state, max_steps


def _direction(state: DualState, mass: Tensor, damping: Tensor) -> Tensor:
    """(diag(m) − Σ_i π_i π_iᵀ / p_i + damping)⁻¹ (q − m), bounded: [R, K] in units of ε."""
    plans, n_support = state.plans, state.plans.shape[-1]
    column_mass = plans.sum(1)
    shares = plans / torch.where(mass > 0, mass, 1.0)[..., None]
    hessian = torch.diag_embed(column_mass) - shares.mT @ plans
    # Adding a constant to g changes nothing: the ones-matrix fixes it and moves no solution.
    hessian += 1.0 / n_support**2
    hessian += torch.diag_embed(damping[:, None] * (column_mass + 1e-3 / n_support))
    # A singular system gives a direction that is not finite: that step is refused and damped.
    direction, _ = torch.linalg.solve_ex(hessian, state.gradient)
    return direction / (direction.abs().amax(-1, keepdim=True) / _REACH).clamp_min(1.0)


def _is_better(trial: DualState, state: DualState) -> Tensor:
    # Near the solution F no longer moves within rounding, but the gradient still does.
    smaller = trial.gradient.square().sum(-1) < state.gradient.square().sum(-1)
    return torch.isfinite(trial.value) & ((trial.value > state.value) | smaller)


def _choose(better: Tensor, trial: DualState, state: DualState) -> DualState:
    return DualState(
        torch.where(better[:, None], trial.potentials, state.potentials),
        torch.where(better[:, None, None], trial.plans, state.plans),
        torch.where(better[:, None], trial.gradient, state.gradient),
        torch.where(better, trial.value, state.value),
    )
