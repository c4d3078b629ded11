# pyright: basic, reportMissingImports=false
"""Other solvers of the same job: the same rollouts, support size, monotone start and threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.ot_parts.planted import Group
from hara_viz.ot.coupling import monotone_coupling
from hara_viz.ot.measures import build_measures

# As ours: ends at a relative change of 1e-2, or after as many rounds.
_THRESHOLD, _ROUNDS = 1e-2, 50


def ott_solver(group: Group, n_support: int, epsilon: float) -> Callable[[], Any] | None:
    """ott-jax's fused barycenter, compiled; None if it is not installed.

    Its cost is GW + penalty × features, so α = 0.5 is penalty 1 at twice the scale (and ε doubled).
    The compilation is left out of its time: call once before timing. Rollouts of equal length only.
    """
    try:
        import jax
        from ott.problems.quadratic.gw_barycenter import GWBarycenterProblem
        from ott.solvers.linear import sinkhorn
        from ott.solvers.quadratic.gromov_wasserstein import GromovWasserstein
        from ott.solvers.quadratic.gw_barycenter import GromovWassersteinBarycenter
    except ImportError:
        return None
    features = torch.stack(group.features).float().cpu()
    lines = torch.stack(group.locations).cpu()
    costs = (lines[:, :, None] - lines[:, None, :]).abs()
    cost, start = _start(group, costs, n_support)
    solver = GromovWassersteinBarycenter(
        GromovWasserstein(
            epsilon=2 * epsilon,
            linear_solver=sinkhorn.Sinkhorn(threshold=_THRESHOLD),
            threshold=_THRESHOLD,
        ),
        threshold=_THRESHOLD,
        max_iterations=_ROUNDS,
    )

    @jax.jit
    def solve(costs: Any, features: Any) -> Any:
        n, length = features.shape[:2]
        problem = GWBarycenterProblem(
            costs=costs,
            b=jax.numpy.full((n, length), 1.0 / length),
            weights=jax.numpy.full(n, 1.0 / n),
            y_fused=features,
            fused_penalty=1.0,
            epsilon=2 * epsilon,
        )
        return solver(problem, bar_size=n_support, bar_init=(cost, start))

    arrays = jax.numpy.asarray(costs.numpy()), jax.numpy.asarray(features.numpy())

    def call() -> tuple[torch.Tensor, torch.Tensor, int]:
        state = solve(*arrays)
        found, points = jax.device_get((state.cost, state.x))
        return torch.tensor(points), torch.tensor(found), int(state.n_iters)

    return call


def _start(group: Group, costs: torch.Tensor, n_support: int) -> tuple[Any, Any]:
    """The barycenter after the monotone coupling, as both our solvers start."""
    measures = build_measures(group.features, group.locations)
    length = len(group.features[0])
    plan = monotone_coupling(measures, n_support)[0, :length].cpu()
    states = torch.stack(group.features).float().cpu()
    points = torch.einsum("tk,rtd->kd", plan, states) * n_support / len(states)
    cost = torch.einsum("tk,rts,sl->kl", plan, costs, plan) * n_support**2 / len(states)
    return cost.numpy(), points.numpy()


def exact_objective(
    group: Group, features: torch.Tensor, structure: torch.Tensor, alpha: float
) -> float:
    """(1), averaged over rollouts: POT's plans onto a barycenter that came without its own."""
    import ot.gromov

    total = 0.0
    for h, line in zip(group.features, group.locations, strict=True):
        h, line = h.double().cpu(), line.double().cpu()
        cost = torch.cdist(h, features.double()).square().numpy()
        c = (line[:, None] - line[None]).abs().numpy()
        c_b = structure.double().numpy()
        value: Any = ot.gromov.fused_gromov_wasserstein2(cost, c, c_b, alpha=alpha)
        total += float(value)
    return total / len(group.features)
