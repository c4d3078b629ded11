"""What must hold for any rollouts: ragged, repeated, constant, of one token, at any ε, α and K."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from hara_viz.ot import SolverConfig, fgw_barycenter, solve_barycenter
from hara_viz.ot.anchored import FusedPoints, start_scales
from hara_viz.ot.anchored_solve import solve_anchored
from hara_viz.ot.anchors import anchor_distances
from hara_viz.ot.coupling import monotone_coupling
from hara_viz.ot.measures import build_measures
from hara_viz.ot.sinkhorn import sinkhorn
from tests.ot.planted import line

Rollouts = tuple[list[Tensor], list[Tensor]]

ALPHAS = st.sampled_from([0.0, 1e-6, 0.3, 0.5, 0.9, 1.0 - 1e-6, 1.0])
EPSILONS = st.sampled_from([1e-3, 1e-2, 0.02, 0.3, 10.0, 1e4])
always = settings(max_examples=40, deadline=None, derandomize=True)
seldom = settings(max_examples=15, deadline=None, derandomize=True)


@st.composite
def rollouts(draw: st.DrawFn, max_length: int = 20) -> Rollouts:
    """Float64 states: random, of few kinds (duplicate tokens), constant within a rollout, or all
    equal; lengths from one token on."""
    lengths = draw(st.lists(st.integers(1, max_length), min_size=1, max_size=5))
    dim = draw(st.integers(1, 6))
    kind = draw(st.sampled_from(["random", "few", "constant", "equal"]))
    size = draw(st.sampled_from([1e-3, 1.0, 30.0]))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))

    def noise(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    vocabulary = noise(3, dim)
    features: list[Tensor] = []
    for length in lengths:
        if kind == "random":
            features.append(size * noise(length, dim))
        elif kind == "few":
            features.append(size * vocabulary[torch.randint(3, (length,), generator=generator)])
        else:
            one = vocabulary[:1] if kind == "equal" else noise(1, dim)
            features.append(size * one.repeat(length, 1))
    return features, [line(length, torch.float64) for length in lengths]


@st.composite
def configs(draw: st.DrawFn) -> SolverConfig:
    return SolverConfig(
        n_support=draw(st.integers(1, 40)),
        alpha=draw(ALPHAS),
        epsilon=draw(EPSILONS),
        n_anchors=draw(st.integers(1, 20)),
        structure=draw(st.sampled_from(["location", "state"])),
        cost_scale=draw(st.sampled_from(["none", "mean"])),
        refine=draw(st.sampled_from([0, 0, 2])),
        tolerance=draw(st.sampled_from([1e-1, 1e-2, 1e-5])),
        max_iterations=draw(st.integers(1, 30)),
        seed=draw(st.sampled_from([0, 0, 7])),
    )


# --- what any answer obeys -----------------------------------------------------------------------


@always
@given(rollouts(), configs())
def test_plans_costs_and_support_are_as_claimed(given_: Rollouts, config: SolverConfig) -> None:
    features, locations = given_
    solution = solve_barycenter(features, locations, config)
    n_support, error = config.n_support, 0.0
    assert isinstance(n_support, int)
    for h, plan in zip(features, solution.plans, strict=True):
        assert plan.shape == (len(h), n_support) and float(plan.min()) >= 0
        torch.testing.assert_close(plan.sum(1), torch.full_like(plan.sum(1), 1 / len(h)))
        error = max(error, float((plan.sum(0) - 1 / n_support).abs().sum()))
    assert solution.marginal_error == pytest.approx(error, abs=1e-9)
    for parts in (solution.costs_feature, solution.costs_structure):
        assert all(bool((part >= 0).all() & part.isfinite().all()) for part in parts)
    assert bool(solution.features.isfinite().all() & solution.structure.isfinite().all())
    # Weighted means stay inside what they are means of.
    assert -1e-9 <= float(solution.locations.min()) <= float(solution.locations.max()) <= 1 + 1e-9
    highest = torch.cat(features).amax(0)
    assert bool((solution.features <= highest + 1e-6 * (1 + highest.abs())).all())


@always
@given(rollouts(), configs())
def test_want_of_convergence_is_reported(given_: Rollouts, config: SolverConfig) -> None:
    solution = solve_barycenter(*given_, config)
    assert len(solution.changes) == solution.iterations <= config.max_iterations
    if not solution.iterations:  # all points equal: nothing to iterate
        assert solution.converged and solution.marginal_error < 1e-9
        return
    settled = solution.changes[-1] < config.tolerance
    if solution.converged:
        assert settled and solution.marginal_error < config.tolerance
    elif solution.iterations < config.max_iterations:  # only a refining round can spoil the end
        assert config.refine and solution.marginal_error >= config.tolerance
    else:
        assert not (settled and solution.marginal_error < config.tolerance and not config.refine)


# --- the objective -------------------------------------------------------------------------------


def regularised(cost: Tensor, plans: Tensor, epsilon: float) -> float:
    """Σ_r λ_r (⟨M_r, π_r⟩ + ε KL(π_r ‖ p qᵀ))."""
    reference = plans.sum(-1, keepdim=True) / plans.shape[-1]
    divergence = torch.special.xlogy(plans, plans / reference.clamp_min(1e-300))
    return float((plans * cost + epsilon * divergence).sum()) / len(plans)


def problem(given_: Rollouts, config: SolverConfig) -> FusedPoints:
    measures = build_measures(*given_)
    return FusedPoints.build(measures, anchor_distances(measures, config, None))


@seldom
@given(rollouts(), ALPHAS, st.sampled_from([0.02, 0.3, 10.0]), st.integers(1, 24))
def test_the_regularised_objective_never_rises(
    given_: Rollouts, alpha: float, epsilon: float, n_support: int
) -> None:
    """Exact rounds are exact block descent, so every one of them falls, up to rounding."""
    config = SolverConfig(alpha=alpha, epsilon=epsilon)
    points = problem(given_, config)
    support = points.barycentric(monotone_coupling(points.measures, n_support))
    scales = start_scales(points, support, config)
    assume(scales.epsilon > 0)
    mass, values = points.measures.mass, list[float]()
    for _ in range(8):
        cost = points.cost(support, scales)
        solved = sinkhorn(cost, mass, scales.epsilon, tolerance=1e-9, max_sweeps=3000)
        assume(solved.marginal_error < 1e-6)
        values.append(regularised(cost, solved.plans, scales.epsilon))
        support = points.barycentric(solved.plans)
    slack = 1e-5 * abs(values[0])
    assert all(later <= earlier + slack for earlier, later in itertools.pairwise(values))


@seldom
@given(rollouts(), ALPHAS, st.sampled_from([0.02, 0.3]), st.integers(1, 24))
def test_the_solvers_own_rounds_rise_by_no_more_than_their_slack(
    given_: Rollouts, alpha: float, epsilon: float, n_support: int
) -> None:
    """The solver's rounds are inexact and step too far: a round may rise by what its marginals
    leave open (most in the first, the loosest), and the end is never above the start.

    E(g) = min over π of the regularised objective, at the support of the last of n rounds.
    """
    values, errors = list[float](), list[float]()
    for n_rounds in (1, 2, 3, 4, 5, 6, 40):
        config = SolverConfig(alpha=alpha, epsilon=epsilon, max_iterations=n_rounds, tolerance=1e-4)
        points = problem(given_, config)
        solved = solve_anchored([points], [n_support], config)[0]
        assume(solved.scales.epsilon > 0)
        cost = points.cost(solved.solved_for, solved.scales)
        exact = sinkhorn(cost, points.measures.mass, solved.scales.epsilon, tolerance=1e-9)
        assume(exact.marginal_error < 1e-6)
        values.append(regularised(cost, exact.plans, solved.scales.epsilon))
        errors.append(solved.marginal_error)
    pairs = zip(itertools.pairwise(values[:-1]), errors, strict=False)
    assert all(later <= earlier * (1 + 2 * error + 1e-3) for (earlier, later), error in pairs)
    assert values[-1] <= values[0] * (1 + 1e-3)


# --- special rollouts ----------------------------------------------------------------------------


@always
@given(rollouts(max_length=12), ALPHAS, EPSILONS, st.integers(1, 30))
def test_every_token_twice_changes_nothing(
    given_: Rollouts, alpha: float, epsilon: float, n_support: int
) -> None:
    """Two atoms at one place with half the mass each are one atom."""
    features, locations = given_
    options = {"alpha": alpha, "epsilon": epsilon, "n_support": n_support, "max_iterations": 4}
    once = fgw_barycenter(features, locations, **options)
    twice = fgw_barycenter(
        [h.repeat_interleave(2, 0) for h in features],
        [place.repeat_interleave(2) for place in locations],
        **options,
    )
    scale = float(torch.cat(once.costs).max())
    for one, two in zip(once.costs, twice.costs, strict=True):
        torch.testing.assert_close(two[::2], two[1::2], atol=1e-9 * scale, rtol=1e-9)
        torch.testing.assert_close(two[::2], one, atol=1e-2 * scale + 1e-12, rtol=1e-2)


@always
@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 20), ALPHAS, EPSILONS)
def test_one_token_rollouts_have_a_closed_form(
    n_rollouts: int, dim: int, n_support: int, alpha: float, epsilon: float
) -> None:
    """The only plan is q, so every support point is the mean, and there is no structure."""
    generator = torch.Generator().manual_seed(n_rollouts * 100 + dim)
    features = [
        torch.randn(1, dim, generator=generator, dtype=torch.float64) for _ in range(n_rollouts)
    ]
    solution = fgw_barycenter(
        features,
        [torch.zeros(1, dtype=torch.float64)] * n_rollouts,
        n_support=n_support,
        alpha=alpha,
        epsilon=epsilon,
    )
    mean = torch.cat(features).mean(0)
    torch.testing.assert_close(solution.features, mean.expand(n_support, -1))
    for h, cost, plan in zip(features, solution.costs, solution.plans, strict=True):
        torch.testing.assert_close(cost, (1 - alpha) * (h - mean).square().sum(1))
        torch.testing.assert_close(plan, torch.full_like(plan, 1 / n_support))


@always
@given(rollouts(), EPSILONS, st.integers(1, 30))
def test_constant_states_leave_time_alone(given_: Rollouts, epsilon: float, n_support: int) -> None:
    """All states equal: no novelty of meaning at any α, and what is left does not know them."""
    features, locations = given_
    flat = [torch.full_like(h, 0.7) for h in features]
    other = [torch.zeros(len(h), 2, dtype=torch.float64) for h in features]
    options = {"alpha": 0.5, "epsilon": epsilon, "n_support": n_support}
    ours = fgw_barycenter(flat, locations, **options)
    theirs = fgw_barycenter(other, locations, **options)
    for cost, a, b in zip(
        ours.costs_feature, ours.costs_structure, theirs.costs_structure, strict=True
    ):
        assert float(cost.max()) < 1e-12
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-4)


@always
@given(rollouts(), st.sampled_from([0.25, 4.0, 2.0**20]), EPSILONS, st.integers(1, 24))
def test_scaling_all_states_scales_the_cost(
    given_: Rollouts, factor: float, epsilon: float, n_support: int
) -> None:
    """α = 0: costs grow with the square. "mean" divides it out, whatever α. Powers of two are
    exact, so every bit agrees."""
    features, locations = given_
    larger = [factor * h for h in features]
    options = {"epsilon": epsilon, "n_support": n_support, "max_iterations": 5}
    plain = fgw_barycenter(features, locations, alpha=0.0, **options)
    scaled = fgw_barycenter(larger, locations, alpha=0.0, **options)
    for a, b in zip(plain.costs, scaled.costs, strict=True):
        torch.testing.assert_close(b, factor**2 * a, rtol=1e-6, atol=1e-9 * factor**2)
    mean = {"cost_scale": "mean", "alpha": 0.4}
    plain = fgw_barycenter(features, locations, **mean, **options)
    scaled = fgw_barycenter(larger, locations, **mean, **options)
    for a, b in zip(plain.costs, scaled.costs, strict=True):
        torch.testing.assert_close(b, a, rtol=1e-6, atol=1e-9)


@seldom
@given(rollouts(max_length=8), st.integers(0, 3), ALPHAS)
def test_more_support_points_than_tokens_cost_nothing_for_one_rollout(
    given_: Rollouts, copies: int, alpha: float
) -> None:
    """K a multiple of T and ε → 0: the barycenter of equal rollouts is the rollout."""
    features, locations = [given_[0][0]] * (copies + 1), [given_[1][0]] * (copies + 1)
    n_support = 3 * len(features[0])
    solution = fgw_barycenter(
        features, locations, n_support=n_support, alpha=alpha, epsilon=1e-3, max_iterations=200
    )
    blurred = fgw_barycenter(
        features, locations, n_support=n_support, alpha=alpha, epsilon=10.0, max_iterations=200
    )
    assert (
        float(torch.cat(solution.costs).mean())
        <= 0.05 * float(torch.cat(blurred.costs).mean()) + 1e-9
    )
