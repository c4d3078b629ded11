# pyright: basic, reportMissingTypeStubs=false
"""The oracle: exact FGW by POT in float64 on the CPU. Slow; never in the hot path.

`ot.gromov.fgw_barycenters` alternates exact plans with the closed updates (2b), from the same
monotone start as the anchored solver. (POT's entropic barycenter is not used: in 0.9.7 it returns
its initial features.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hara_viz.errors import MissingInputError
from hara_viz.ot.anchored import Support
from hara_viz.ot.config import SolverConfig
from hara_viz.ot.measures import Measures
from hara_viz.ot.scales import Scales
from hara_viz.ot.solution import Transport
from hara_viz.ot.structure import StructureOperator


@dataclass(frozen=True, slots=True)
class ExactSolution:
    """POT's barycenter, and the plans onto it."""

    support_features: Tensor
    """[K, D] centred, float64."""
    support_structure: Tensor
    """[K, K] float64."""
    transport: Transport
    padded_plans: Tensor
    """[R, T, K] of the measures' dtype."""
    converged: bool
    iterations: int
    changes: tuple[float, ...]


def solve_exact(
    measures: Measures,
    structure: StructureOperator,
    start: Support,
    start_structure: Tensor,
    scales: Scales,
    config: SolverConfig,
) -> ExactSolution:
    """Barycenter (2) with exact plans from the given start.

    Raises:
        MissingInputError: POT is not installed.
    """
    gromov = _pot()
    alpha, _ = _pot_alpha(scales)
    states, dense = _arrays(measures, structure)
    spread = float((start.features - start.features.mean(0)).norm()) or 1.0
    features, support_structure, log = gromov.fgw_barycenters(
        start.features.shape[0],
        [h.numpy() for h in states],
        [c.numpy() for c in dense],
        alpha=alpha,
        init_X=start.features.double().cpu().numpy(),
        init_C=start_structure.double().cpu().numpy(),
        tol=0.1 * config.tolerance * spread,
        max_iter=config.max_iterations,
        warmstartT=True,
        log=True,
    )
    changes = tuple(float(error) / spread for error in log["err_feature"])
    y, c_b = torch.from_numpy(features), torch.from_numpy(support_structure)
    plans = [plan.T.copy() for plan in log["T"]]
    transport, padded = transport_exact(measures, structure, y, c_b, scales, starts=plans)
    done = changes[-1] < config.tolerance
    return ExactSolution(y, c_b, transport, padded, done, len(changes), changes)


def transport_exact(
    measures: Measures,
    structure: StructureOperator,
    support_features: Tensor,
    support_structure: Tensor,
    scales: Scales,
    starts: Sequence[Any] | None = None,
) -> tuple[Transport, Tensor]:
    """Exact FGW plan of each rollout onto a fixed support ([K, …], or [R, K, …] one each).

    Returns:
        The transport, whose costs add up to (1), and the plans [R, T, K] padded. `starts` are
        plans [T_r, K] to begin from, in the order of the measures.
    """
    gromov = _pot()
    alpha, factor = _pot_alpha(scales)
    states, dense = _arrays(measures, structure)
    n_support = support_features.shape[-2]
    shape = (measures.n_rollouts, measures.mass.shape[1])
    plans = torch.zeros(*shape, n_support, dtype=torch.float64)
    feature, bilinear = torch.zeros(shape).double(), torch.zeros(shape).double()
    for r, (h, c) in enumerate(zip(states, dense, strict=True)):
        y = support_features[r] if support_features.dim() == 3 else support_features
        c_b = support_structure[r] if support_structure.dim() == 3 else support_structure
        y, c_b = y.double().cpu(), c_b.double().cpu()
        cost = torch.cdist(h, y).square()
        plan = gromov.fused_gromov_wasserstein(
            cost.numpy(),
            c.numpy(),
            c_b.numpy(),
            alpha=alpha,
            symmetric=True,
            G0=None if starts is None else starts[r],
        )
        length = measures.lengths[r]
        plans[r, :length] = torch.from_numpy(plan)
        feature[r, :length], bilinear[r, :length] = _costs(plans[r, :length], cost, c, c_b)
    share_f, share_s = factor * (1 - alpha), factor * alpha
    dtype, device, unpad = measures.mass.dtype, measures.mass.device, measures.unpad
    padded = plans.to(device, dtype)
    error = float((plans.sum(1) - 1.0 / n_support).abs().sum(-1).max())
    transport = Transport(
        unpad(padded),
        unpad((feature * share_f).to(device, dtype)),
        unpad((bilinear * share_s).to(device, dtype)),
        error,
    )
    return transport, padded


def _costs(plan: Tensor, cost: Tensor, c: Tensor, c_b: Tensor) -> tuple[Tensor, Tensor]:
    """Feature part and bilinear part (left side of 3b) per atom [T], unweighted."""
    rows, columns = plan.sum(1), plan.sum(0)
    feature = (plan * cost).sum(1) / rows
    # Σ_jl π_jl (C_ij − C_kl)² = Σ_j p_j C_ij² − 2 (C π C_bᵀ)_ik + Σ_l q_l C_kl²
    pairs = (c.square() @ rows)[:, None] - 2 * c @ plan @ c_b.T + (c_b.square() @ columns)[None, :]
    return feature, ((plan * pairs).sum(1) / rows).clamp_min(0)


def _arrays(measures: Measures, structure: StructureOperator) -> tuple[list[Tensor], list[Tensor]]:
    lengths = enumerate(measures.lengths)
    states = [measures.features[r, :length].double().cpu() for r, length in lengths]
    dense = [structure.dense(r).double().cpu() for r in range(measures.n_rollouts)]
    return states, dense


def _pot_alpha(scales: Scales) -> tuple[float, float]:
    """(α, factor) such that factor · ((1−α) F + α S) = scales.feature F + scales.structure S."""
    factor = scales.feature + scales.structure
    return scales.structure / factor, factor


def _pot() -> Any:
    try:
        import ot.gromov
    except ImportError as error:
        raise MissingInputError(
            'solver "exact" needs POT, which is not installed; run `pip install pot`, or set '
            'solver to "anchored"'
        ) from error
    return ot.gromov
