"""Damped Newton steps on the semi-dual of (5), for where sweeps crawl.

Sinkhorn is block coordinate ascent: between clusters that hardly exchange mass its error falls like
1/n (a thousand sweeps for three digits). The semi-dual has only K unknowns a rollout,

    F(g) = Σ_k q_k g_k − ε Σ_i p_i log Σ_k q_k exp((g_k − M_ik)/ε),     ∇F = q − m,
    −ε ∇²F = diag(m) − Σ_i π_i π_iᵀ / p_i,                              m_k = Σ_i π_ik,

so a few steps of cost O(TK²) end at any marginal error that floats can tell. At small ε it is
nearly piecewise linear, so steps are damped (Levenberg-Marquardt, per rollout) and bounded. The
kernel stays as it is: a step moves the column factors v = exp(δg/ε) alone, so that it costs one
matrix product and no exponential.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from hara_viz.ot.limits import RULES

# The rows still at work are packed anew when they have become this much fewer.
_PACK = 0.5


@dataclass(frozen=True, slots=True)
class Factors:
    """Scalings of a kernel [R, T, K]: π = u K v, whose rows sum to the mass by construction.

    Several candidates stand along an axis before the last: [R, J, …].
    """

    packed: Tensor
    """u, log v, m, F/ε and the error side by side, so that rows are chosen in one operation."""
    n_support: int

    @property
    def u(self) -> Tensor:
        """[R, T]; 0 on padding rows."""
        return self.packed[..., : -2 * self.n_support - 2]

    @property
    def log_v(self) -> Tensor:
        """[R, K]; 0 on padding columns."""
        return self.packed[..., -2 * self.n_support - 2 : -self.n_support - 2]

    @property
    def column_mass(self) -> Tensor:
        """m [R, K]."""
        return self.packed[..., -self.n_support - 2 : -2]

    @property
    def value(self) -> Tensor:
        """F/ε up to a constant of the kernel, [R]."""
        return self.packed[..., -2]

    @property
    def error(self) -> Tensor:
        """Σ_k |m_k − q_k|: [R]."""
        return self.packed[..., -1]


def evaluate(kernel: Tensor, mass: Tensor, weights: Tensor, log_v: Tensor) -> Factors:
    """The row update for given column factors log v [R, K], and what it leads to.

    Padding columns need no care: their kernel is e^-70, their log v stays 0.
    """
    tried = _evaluate(kernel, mass, weights, log_v[:, None])
    return Factors(tried.packed[:, 0], tried.n_support)


def _evaluate(kernel: Tensor, mass: Tensor, weights: Tensor, log_v: Tensor) -> Factors:
    """The same for J candidates [R, J, K]."""
    v = log_v.exp()
    # Row vectors × matrix: the other way round the same product takes ten times as long (MKL).
    sums = torch.bmm(v, kernel.mT)
    u = mass[:, None] / sums
    column_mass = torch.bmm(u, kernel).mul_(v)
    gain = torch.bmm(log_v, weights[..., None])
    value = gain.baddbmm_(sums.log_(), mass[..., None], alpha=-1)
    error = (column_mass - weights[:, None]).abs_().sum(-1, keepdim=True)
    return Factors(torch.cat([u, log_v, column_mass, value, error], -1), kernel.shape[-1])


def newton(
    kernel: Tensor,
    mass: Tensor,
    weights: Tensor,
    factors: Factors,
    *,
    tolerance: Tensor,
    max_steps: int,
) -> tuple[Factors, int]:
    """Damped Newton steps for the rollouts whose marginal error is not below their tolerance [R].

    Returns:
        The last factors and the number of steps. A rollout never gets worse than it began: if a
        step does not help, it stays where it is and is damped more. One that wants to move further
        than the kernel can tell is left for the caller to absorb.
    """
    goal = torch.where(factors.error < tolerance, torch.inf, RULES.goal * tolerance)
    places = _open(factors, goal).nonzero()[:, 0]
    if not len(places) or not max_steps:
        return factors, 0
    work = _Work.build(kernel, mass, weights, factors, goal).keep(places)
    packed = factors.packed
    for step in range(1, max_steps + 1):
        work = work.step()
        places = work.open.nonzero()[:, 0]
        if not len(places) or step == max_steps:
            return replace(factors, packed=work.put_into(packed)), step
        if len(places) < _PACK * len(work.index):
            packed = work.put_into(packed)
            work = work.keep(places)
    raise AssertionError("the loop returns in its last step")


def _open(factors: Factors, goal: Tensor) -> Tensor:
    """[R]: neither at its goal nor at the end of what the kernel can tell."""
    return (factors.error >= goal) & (factors.log_v.abs().amax(-1) < RULES.largest - 1.0)


@dataclass(frozen=True, slots=True)
class _Table:
    """Constants of a step as tensors: making them anew costs as much as using them."""

    shares: Tensor
    """[J−1, 1]."""
    factors: Tensor
    """[J]: of the damping."""
    favour: Tensor
    """[J]: of two steps whose F differs by rounding the longer is taken."""

    @staticmethod
    def like(values: Tensor) -> _Table:
        slack = 64 * torch.finfo(values.dtype).eps
        favour = [slack * (1 - j / len(RULES.shares)) for j in range(len(RULES.factors))]
        return _Table(
            values.new_tensor(RULES.shares)[:, None],
            values.new_tensor(RULES.factors),
            values.new_tensor(favour),
        )


@dataclass(frozen=True, slots=True)
class _Work:
    """The rollouts still at work, packed."""

    index: Tensor
    places: Tensor
    """0 … R−1."""
    kernel: Tensor
    mass: Tensor
    inverse_root: Tensor
    """p^(−1/2), 0 on padding."""
    weights: Tensor
    ground: Tensor
    """What the Hessian gets so that it is regular: q qᵀ, and 1 for padding columns."""
    goal: Tensor
    factors: Factors
    damping: Tensor
    open: Tensor
    """[R]: rows that are done rest, so that no row hangs on how long others take."""
    table: _Table

    @staticmethod
    def build(
        kernel: Tensor, mass: Tensor, weights: Tensor, factors: Factors, goal: Tensor
    ) -> _Work:
        everyone = torch.arange(len(kernel), device=kernel.device)
        root = torch.where(mass > 0, mass, torch.inf).rsqrt()
        # Adding a constant to g changes nothing: q qᵀ fixes it and moves no solution.
        ground = torch.diag_embed((weights == 0).to(weights))
        ground.addcmul_(weights[:, :, None], weights[:, None, :])
        damping = torch.full_like(factors.value, RULES.damping)[:, None]
        table = _Table.like(factors.packed)
        return _Work(
            index=everyone,
            places=everyone,
            kernel=kernel,
            mass=mass,
            inverse_root=root,
            weights=weights,
            ground=ground,
            goal=goal,
            factors=factors,
            damping=damping,
            open=_open(factors, goal),
            table=table,
        )

    def keep(self, places: Tensor) -> _Work:
        """Some of these rollouts alone."""
        if len(places) == len(self.index):
            return self
        return _Work(
            self.index[places],
            self.places[: len(places)],
            self.kernel[places],
            self.mass[places],
            self.inverse_root[places],
            self.weights[places],
            self.ground[places],
            self.goal[places],
            replace(self.factors, packed=self.factors.packed[places]),
            self.damping[places],
            self.open[places],
            self.table,
        )

    def put_into(self, packed: Tensor) -> Tensor:
        """The packed factors of all, with these in their places."""
        return packed.index_copy(0, self.index, self.factors.packed)

    def step(self) -> _Work:
        """The best of some shares of the Newton step, and of a sweep."""
        now = self.factors
        steps = torch.cat([self._direction()[:, None] * self.table.shares, self._sweep()], 1)
        log_v = steps.add_(now.log_v[:, None]).clamp_(-RULES.largest, RULES.largest)
        tried = _evaluate(self.kernel, self.mass, self.weights, log_v)
        good = tried.error[:, 0] < RULES.good * now.error
        chosen = torch.where(good, 0, (tried.value + self.table.favour).argmax(-1))
        trial = replace(now, packed=tried.packed[self.places, chosen])
        # Near the solution F no longer moves within rounding, but the gradient still does. A trial
        # that is not finite is better in neither.
        better = (trial.value > now.value) | (trial.error < now.error)
        better = (better & self.open)[:, None]
        factors = replace(now, packed=torch.where(better, trial.packed, now.packed))
        factor = torch.where(better, self.table.factors[chosen][:, None], RULES.factors[-1])
        damping = (self.damping * factor).clamp_(*RULES.damping_range)
        return replace(self, factors=factors, damping=damping, open=_open(factors, self.goal))

    def _sweep(self) -> Tensor:
        """What a Sinkhorn sweep adds to log v: [R, 1, K]."""
        ratio = torch.where(self.weights > 0, self.weights / self.factors.column_mass, 1.0)
        return ratio.log_().clamp_(-RULES.reach, RULES.reach)[:, None]

    def _direction(self) -> Tensor:
        """(diag(m) − Σ_i π_i π_iᵀ / p_i + damping)⁻¹ (q − m), bounded: [R, K] in units of ε."""
        mass, v = self.factors.column_mass, self.factors.log_v.exp()
        shares = self.kernel * (self.factors.u * self.inverse_root)[..., None]
        hessian = torch.bmm(shares.mT, shares).mul_(v[:, :, None]).mul_(v[:, None, :])
        torch.sub(self.ground, hessian, out=hessian)
        damped = torch.addcmul(mass, self.damping, mass + 1e-3 * self.weights)
        hessian.diagonal(dim1=1, dim2=2).add_(damped)
        # A system that rounding made singular gives some direction: the step is refused, damped.
        triangle, _ = torch.linalg.cholesky_ex(hessian)
        direction = torch.cholesky_solve((self.weights - mass)[..., None], triangle)[..., 0]
        return direction / (direction.abs().amax(-1, keepdim=True) / RULES.reach).clamp_min_(1.0)
