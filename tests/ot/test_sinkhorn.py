from __future__ import annotations

import math

import ot
import pytest
import torch

import hara_viz.ot.sinkhorn as room
from hara_viz.ot.newton import evaluate, newton
from hara_viz.ot.sinkhorn import sinkhorn


@pytest.fixture(autouse=True, params=["compiled", "batched"])
def descent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """All that is said of plans holds for both ways to them."""
    monkeypatch.setattr(room, "suits_compiled", lambda kernel: request.param == "compiled")
    return request.param


def problem(
    r: int = 3, t: int = 20, k: int = 6, seed: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    cost = torch.rand(r, t, k, generator=generator)
    return cost, torch.full((r, t), 1.0 / t)


@pytest.mark.parametrize("epsilon", [1.0, 0.3, 0.1])
def test_plans_equal_pot_in_the_log_domain(epsilon: float) -> None:
    cost, _ = problem()
    mass = torch.full((3, 20), 1 / 20, dtype=torch.float64)
    solved = sinkhorn(cost.double(), mass, epsilon, tolerance=1e-9)
    rows, columns = [1 / 20] * 20, [1 / 6] * 6
    for r in range(3):
        expected = ot.bregman.sinkhorn_log(
            rows, columns, cost[r].double().numpy(), epsilon, numItermax=10_000, stopThr=1e-10
        )
        torch.testing.assert_close(
            solved.plans[r], torch.from_numpy(expected), atol=1e-7, rtol=1e-5
        )


def test_two_points_closed_form() -> None:
    # Symmetric 2 x 2: π_11 = π_22 = (1/2) / (1 + e^(-c/ε)).
    c, epsilon = 0.3, 0.1
    cost = torch.tensor([[[0.0, c], [c, 0.0]]])
    solved = sinkhorn(cost, torch.full((1, 2), 0.5), epsilon, tolerance=1e-6)
    expected = 0.5 / (1 + math.exp(-c / epsilon))
    assert solved.plans[0, 0, 0].item() == pytest.approx(expected, rel=1e-5)


def test_rows_are_exact_and_columns_within_the_reported_error() -> None:
    cost, mass = problem(t=50, k=7)
    solved = sinkhorn(cost, mass, 0.02, tolerance=1e-2)
    torch.testing.assert_close(solved.plans.sum(-1), mass, atol=1e-7, rtol=1e-6)
    error = (solved.plans.sum(1) - 1 / 7).abs().sum(-1).max().item()
    assert error == pytest.approx(solved.marginal_error, abs=1e-5)
    assert solved.marginal_error < 1e-2
    torch.testing.assert_close(solved.column_mass, solved.plans.sum(1), atol=1e-7, rtol=1e-5)


def test_a_cluster_that_one_rollout_never_visits_at_small_epsilon() -> None:
    # Column 3 is further than any float32 exponential can tell, in rollout 0 only.
    generator = torch.Generator().manual_seed(1)
    cost = torch.rand(2, 30, 4, generator=generator)
    cost[0, :, 3] += 5.0
    mass = torch.full((2, 30), 1 / 30)
    solved = sinkhorn(cost, mass, 1e-3, tolerance=1e-3)
    assert solved.marginal_error < 1e-3
    assert torch.isfinite(solved.plans).all()
    torch.testing.assert_close(solved.column_mass, solved.plans.sum(1), atol=1e-6, rtol=1e-4)
    exact = torch.stack(
        [
            torch.from_numpy(ot.emd(mass[r].double().numpy(), [0.25] * 4, cost[r].double().numpy()))
            for r in range(2)
        ]
    )
    ours = (solved.plans.double() * cost).sum((1, 2))
    best = (exact * cost).sum((1, 2))
    torch.testing.assert_close(ours, best, rtol=2e-2, atol=0.0)


def test_padding_rows_stay_empty_and_do_not_matter() -> None:
    cost, mass = problem(r=1)
    padded = torch.cat([cost, torch.rand(1, 9, 6)], 1)
    solved = sinkhorn(cost, mass, 0.05, tolerance=1e-5)
    longer = sinkhorn(padded, torch.cat([mass, torch.zeros(1, 9)], 1), 0.05, tolerance=1e-5)
    torch.testing.assert_close(longer.plans[:, :20], solved.plans)
    assert longer.plans[:, 20:].abs().sum() == 0


def test_warm_start_saves_sweeps_and_keeps_the_solution() -> None:
    cost, mass = problem(t=60)
    cold = sinkhorn(cost, mass, 0.02, tolerance=1e-4)
    warm = sinkhorn(cost, mass, 0.02, potentials=cold.potentials, tolerance=1e-4)
    assert warm.sweeps < cold.sweeps
    torch.testing.assert_close(warm.plans, cold.plans, atol=1e-5, rtol=1e-2)


def test_the_limit_of_sweeps_is_reported_as_error() -> None:
    cost, mass = problem()
    solved = sinkhorn(cost, mass, 0.005, tolerance=1e-9, max_sweeps=2, max_steps=0)
    assert (solved.sweeps, solved.newton_steps) == (2, 0)
    error = (solved.plans.sum(1) - 1 / 6).abs().sum(-1).max().item()
    assert solved.marginal_error == pytest.approx(error, abs=1e-6) and error > 1e-3


@pytest.mark.parametrize("epsilon", [0.03, 0.02])
def test_newton_ends_where_sweeps_would(epsilon: float) -> None:
    """At small ε sweeps need thousands, Newton a few steps; both solve the same problem."""
    cost, _ = problem()
    cost, mass = cost.double(), torch.full((3, 20), 1 / 20, dtype=torch.float64)
    patient = sinkhorn(cost, mass, epsilon, tolerance=1e-7, max_sweeps=10_000, max_steps=0)
    quick = sinkhorn(cost, mass, epsilon, tolerance=1e-7)
    assert quick.marginal_error < 1e-7 and 0 < quick.newton_steps <= 30
    torch.testing.assert_close(quick.plans, patient.plans, atol=1e-4, rtol=0)
    torch.testing.assert_close(quick.plans.sum(-1), mass)


def test_newton_never_ends_worse_than_it_began() -> None:
    cost, mass = problem(seed=4)
    kernel = (-(cost - cost.amin(-1, keepdim=True)) / 1e-2).exp()
    weights = torch.full((3, 6), 1 / 6)
    start = evaluate(kernel, mass, weights, torch.zeros(3, 6))
    tolerance = torch.full((3,), 1e-9)
    for steps in range(6):
        ended, _ = newton(kernel, mass, weights, start, tolerance=tolerance, max_steps=steps)
        assert bool((ended.value >= start.value - 1e-6).all())
        assert steps == 0 or bool((ended.error < start.error).all())
