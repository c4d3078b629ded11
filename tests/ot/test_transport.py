"""The two parts of the costs (6), which the solver's own costs are split into."""

from __future__ import annotations

import pytest
import torch

from hara_viz.ot.anchored_solve import solve_anchored
from hara_viz.ot.config import SolverConfig
from hara_viz.ot.problem import Problem, RolloutClass
from hara_viz.ot.transport import anchored_transport
from tests.ot.planted import clustered_rollouts


@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("dim", [16, 256])
def test_parts_are_the_mean_distances_under_the_plans(alpha: float, dim: int) -> None:
    features, locations = clustered_rollouts([40, 33, 37], dim=dim, stages=6, noise=0.1, seed=1)
    features = [h + 3.0 for h in features]  # a common offset, which centring takes off
    config = SolverConfig(n_support=9, alpha=alpha)
    problem = Problem.build(RolloutClass(features, locations), config)
    points = problem.points
    solved = solve_anchored([points], [9], config)[0]
    transport = anchored_transport(points, solved)
    support, mass = solved.solved_for, points.measures.mass
    feature = (solved.plans * points.feature_cost(support)).sum(-1) * (1 - alpha)
    structure = (solved.plans * points.structure_cost(support)).sum(-1) * alpha
    for found, expected in (
        (transport.costs_feature, feature / mass.clamp_min(1e-9)),
        (transport.costs_structure, structure / mass.clamp_min(1e-9)),
    ):
        for one, other in zip(found, points.measures.unpad(expected), strict=True):
            torch.testing.assert_close(one, other, atol=2e-6, rtol=1e-5)
