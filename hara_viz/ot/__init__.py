"""Fused Gromov-Wasserstein barycenters of sequences, anchored (fast) and exact (POT).

The room knows nothing of tokens, rewards or models: it sees weighted points with features and
locations on a line. Read it in this order:

    config       what to solve: α, ε, K, anchors, …                     (checked on construction)
    measures     rollouts as padded batches of measured networks
    states       their features: one block, or streamed
    structure    the distances C_r inside a rollout, never T² for locations
    coupling     the monotone start
    anchors      distances to anchors, the linearization of method §4
    sinkhorn     entropic plans, stabilised in the kernel domain
    limits       how far its steps go and when they stop
    compiled     the descent rollout by rollout, on a CPU               (steps: compiled_steps)
    batched      the descent for all rollouts at once, on a GPU
    newton       its damped Newton steps, where sweeps crawl
    anchored     fused points: costs and updates of one class
    sketch       a small space for the rounds
    alternation  the free-support barycenters of many classes, by alternation
    anchored_solve  sketched rounds, then full ones
    refine       the coupling rounds (3b) that walk towards exact FGW
    transport    measures onto a fixed support
    exact        the oracle: POT in float64
    problem      classes of rollouts, and which are solved together
    barycenter   the door: `fgw_barycenter`
"""

from hara_viz.ot.barycenter import (
    fgw_barycenter,
    solve_barycenter,
    solve_barycenters,
    transport_to_reference,
)
from hara_viz.ot.config import SolverConfig
from hara_viz.ot.problem import RolloutClass
from hara_viz.ot.solution import Barycenter, BarycenterSolution, Reference, Sketch, Transport

__all__ = [
    "Barycenter",
    "BarycenterSolution",
    "Reference",
    "RolloutClass",
    "Sketch",
    "SolverConfig",
    "Transport",
    "fgw_barycenter",
    "solve_barycenter",
    "solve_barycenters",
    "transport_to_reference",
]
