from __future__ import annotations

import itertools

import ot
import pytest
import torch

from hara_viz.errors import ConfigError, HaraError
from hara_viz.ot import SolverConfig, fgw_barycenter, solve_barycenter
from hara_viz.ot.anchored import FusedPoints, start_scales
from hara_viz.ot.anchors import anchor_distances
from hara_viz.ot.config import Anchors, Structure
from hara_viz.ot.coupling import monotone_coupling
from hara_viz.ot.measures import build_measures
from hara_viz.ot.sinkhorn import sinkhorn
from tests.ot.planted import clustered_rollouts, line, spearman


def objective(features, locations, solution, alpha: float) -> float:
    """(2) at the plans and the barycenter that were handed out, by POT's own formula."""
    total = 0.0
    for h, place, plan in zip(features, locations, solution.plans, strict=True):
        h, place, plan = h.double(), place.double(), plan.double()
        c = (place[:, None] - place[None, :]).abs()
        c_b = solution.structure.double()
        m = torch.cdist(h, solution.features.double()).square()
        rows, columns = plan.sum(1), plan.sum(0)
        pairs = (c.square() @ rows)[:, None] + (c_b.square() @ columns)[None]
        pairs = pairs - 2 * c @ plan @ c_b.T
        total += float((plan * ((1 - alpha) * m + alpha * pairs)).sum()) / len(features)
    return total


def regularised(cost: torch.Tensor, plans: torch.Tensor, epsilon: float) -> float:
    """Σ_r λ_r (⟨M_r, π_r⟩ + ε KL(π_r ‖ p qᵀ))."""
    reference = plans.sum(-1, keepdim=True) / plans.shape[-1]
    divergence = torch.special.xlogy(plans, plans / reference.clamp_min(1e-300))
    return float((plans * cost + epsilon * divergence).sum()) / len(plans)


# --- closed forms --------------------------------------------------------------------------------


def test_one_atom_rollouts_meet_at_their_mean() -> None:
    features = [torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 2.0]])]
    solution = fgw_barycenter(features, [torch.zeros(1)] * 2, n_support=1, alpha=0.0)
    torch.testing.assert_close(solution.features, torch.tensor([[0.5, 1.0]]))
    # Each lies sqrt(1.25) away from the mean.
    for cost in solution.costs:
        torch.testing.assert_close(cost, torch.tensor([1.25]))


def test_equal_points_are_at_rest() -> None:
    features = [torch.full((5, 3), 0.1), torch.full((7, 3), 0.1)]
    solution = fgw_barycenter(features, [line(5), line(7)], n_support=4, alpha=0.0)
    assert solution.converged and solution.iterations == 0
    torch.testing.assert_close(solution.plans[0], torch.full((5, 4), 1 / 20))
    assert all(float(c.max()) == pytest.approx(0.0, abs=1e-10) for c in solution.costs)


def test_equal_rollouts_with_a_point_per_atom_cost_nothing() -> None:
    features, locations = clustered_rollouts([8], noise=1.0)
    solution = fgw_barycenter(
        features * 3, locations * 3, n_support=8, epsilon=1e-3, tolerance=1e-4, max_iterations=200
    )
    assert max(float(c.max()) for c in solution.costs) < 1e-3
    torch.testing.assert_close(solution.features, features[0], atol=1e-2, rtol=0)


def test_alpha_one_and_location_structure_see_only_time() -> None:
    features, locations = clustered_rollouts([9, 9])
    other = [torch.randn_like(h) for h in features]
    ours = fgw_barycenter(features, locations, n_support=6, alpha=1.0)
    theirs = fgw_barycenter(other, locations, n_support=6, alpha=1.0)
    torch.testing.assert_close(ours.plans[0], theirs.plans[0])
    assert float(ours.costs_feature[0].abs().max()) == 0.0
    assert bool((ours.locations.diff() > 0).all())  # the anchors give time its direction


# --- invariants ----------------------------------------------------------------------------------


@pytest.mark.parametrize("structure", ["location", "state"])
@pytest.mark.parametrize("refine", [0, 3])
def test_marginals_parts_and_report(structure: Structure, refine: int) -> None:
    features, locations = clustered_rollouts([20, 33, 41])
    solution = fgw_barycenter(features, locations, n_support=9, structure=structure, refine=refine)
    for plan, h in zip(solution.plans, features, strict=True):
        torch.testing.assert_close(plan.sum(1), torch.full((len(h),), 1 / len(h)))
    error = max(float((p.sum(0) - 1 / 9).abs().sum()) for p in solution.plans)
    assert solution.marginal_error == pytest.approx(error, abs=1e-5)
    assert solution.converged and solution.marginal_error < 1e-2
    assert len(solution.changes) == solution.iterations
    parts = zip(solution.costs, solution.costs_feature, solution.costs_structure, strict=True)
    for whole, feature, bilinear in parts:
        torch.testing.assert_close(whole, feature + bilinear)
        assert float(feature.min()) >= 0 and float(bilinear.min()) >= 0


def test_a_shift_of_all_states_changes_nothing_even_a_large_one() -> None:
    features, locations = clustered_rollouts([20, 25])
    shifted = [h + 300.0 for h in features]
    ours = fgw_barycenter(features, locations, n_support=8)
    theirs = fgw_barycenter(shifted, locations, n_support=8)
    for a, b in zip(ours.costs, theirs.costs, strict=True):
        torch.testing.assert_close(a, b, atol=2e-3, rtol=1e-2)
    torch.testing.assert_close(theirs.features - 300.0, ours.features, atol=1e-2, rtol=0)


def test_order_of_rollouts_does_not_matter() -> None:
    features, locations = clustered_rollouts([12, 30, 21])
    ours = fgw_barycenter(features, locations, n_support=8)
    theirs = fgw_barycenter(features[::-1], locations[::-1], n_support=8)
    for a, b in zip(ours.costs, theirs.costs[::-1], strict=True):
        assert torch.equal(a, b)


def test_order_of_atoms_does_not_matter() -> None:
    features, locations = clustered_rollouts([12, 20])
    order = torch.randperm(20, generator=torch.Generator().manual_seed(0))
    ours = fgw_barycenter(features, locations, n_support=6)
    theirs = fgw_barycenter(
        [features[0], features[1][order]], [locations[0], locations[1][order]], n_support=6
    )
    assert torch.equal(theirs.costs[1], ours.costs[1][order])


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8, 1.0])
def test_regularised_objective_falls_with_exact_rounds(alpha: float) -> None:
    features, locations = clustered_rollouts([24, 31, 28], noise=0.4)
    measures = build_measures([h.double() for h in features], locations)
    config = SolverConfig(alpha=alpha)
    points = FusedPoints.build(measures, anchor_distances(measures, config, None))
    support = points.barycentric(monotone_coupling(measures, 8))
    scales = start_scales(points, support, config)
    values: list[float] = []
    for _ in range(12):
        cost = points.cost(support, scales)
        plans = sinkhorn(cost, measures.mass, scales.epsilon, tolerance=1e-8).plans
        values.append(regularised(cost, plans, scales.epsilon))
        support = points.barycentric(plans)
    assert all(later <= earlier + 1e-7 for earlier, later in itertools.pairwise(values))
    assert values[-1] < values[0] - 1e-7


def test_float32_follows_float64() -> None:
    features, locations = clustered_rollouts([40, 55, 38])
    single = fgw_barycenter(features, locations, n_support=10)
    double = fgw_barycenter([h.double() for h in features], locations, n_support=10)
    for a, b in zip(single.costs, double.costs, strict=True):
        # Rounding can move the round at which a solve stops, so within the solver's tolerance.
        torch.testing.assert_close(a.double(), b, atol=1e-2 * float(b.mean()), rtol=1e-2)


def test_half_precision_is_upcast() -> None:
    features, locations = clustered_rollouts([40, 55])
    half = [h.bfloat16() for h in features]
    ours = fgw_barycenter(half, locations, n_support=10)
    upcast = fgw_barycenter([h.float() for h in half], locations, n_support=10)
    assert ours.features.dtype == torch.float32
    torch.testing.assert_close(ours.features, upcast.features)


@pytest.mark.parametrize("epsilon", [1e-3, 1e-2, 10.0])
@pytest.mark.parametrize("n_support", [1, 5, 40])
def test_extreme_epsilon_and_support_stay_finite(epsilon: float, n_support: int) -> None:
    features, locations = clustered_rollouts([1, 6, 19], noise=0.02)
    solution = fgw_barycenter(features, locations, n_support=n_support, epsilon=epsilon)
    assert torch.isfinite(solution.features).all()
    assert all(torch.isfinite(c).all() for c in solution.costs)


def test_determinism() -> None:
    features, locations = clustered_rollouts([30, 44])
    first = fgw_barycenter(features, locations)
    second = fgw_barycenter(features, locations)
    assert torch.equal(first.features, second.features)


def test_seeds_are_other_starts() -> None:
    features, locations = clustered_rollouts([30, 44], noise=0.5)
    zero, one, again = (fgw_barycenter(features, locations, seed=s) for s in (0, 1, 1))
    assert not torch.equal(zero.features, one.features)
    assert torch.equal(one.features, again.features)


def test_no_gradients_are_kept() -> None:
    features, locations = clustered_rollouts([10, 12])
    features = [h.requires_grad_() for h in features]
    assert not fgw_barycenter(features, locations, n_support=4).costs[0].requires_grad


def test_non_convergence_is_reported() -> None:
    features, locations = clustered_rollouts([40, 55, 38], noise=0.6)
    solution = fgw_barycenter(features, locations, tolerance=1e-6, max_iterations=2)
    assert not solution.converged and solution.iterations == 2


# --- the oracle ----------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8])
def test_anchored_objective_is_near_the_exact_one(alpha: float) -> None:
    features, locations = clustered_rollouts([24, 31, 28, 35], noise=0.3)
    exact = fgw_barycenter(features, locations, n_support=10, alpha=alpha, solver="exact")
    ours = fgw_barycenter(features, locations, n_support=10, alpha=alpha)
    reference = objective(features, locations, exact, alpha)
    assert objective(features, locations, ours, alpha) <= 1.10 * reference


def test_exact_costs_add_up_to_pots_fgw() -> None:
    features, locations = clustered_rollouts([14, 19], noise=0.3)
    alpha = 0.4
    exact = fgw_barycenter(features, locations, n_support=7, alpha=alpha, solver="exact")
    for r, (h, place) in enumerate(zip(features, locations, strict=True)):
        c = (place[:, None] - place[None, :]).abs().double().numpy()
        m = torch.cdist(h.double(), exact.features.double()).square().numpy()
        value = ot.gromov.fused_gromov_wasserstein2(
            m, c, exact.structure.double().numpy(), alpha=alpha, G0=exact.plans[r].double().numpy()
        )
        assert float(exact.costs[r].mean()) == pytest.approx(float(value), rel=1e-3)


def test_novelty_ranks_agree_with_exact() -> None:
    """Judged against the ceiling: exact solves from other starts do not agree perfectly either."""
    features, locations = clustered_rollouts([30, 36, 33, 28], noise=0.2, seed=3)
    exact = fgw_barycenter(features, locations, n_support=10, solver="exact")
    other = fgw_barycenter(features, locations, n_support=10, solver="exact", seed=1)
    ceiling = spearman(torch.cat(other.costs), torch.cat(exact.costs))
    for refine in (0, 10):
        ours = fgw_barycenter(features, locations, n_support=10, refine=refine)
        agreement = spearman(torch.cat(ours.costs), torch.cat(exact.costs))
        assert agreement > min(ceiling - 0.05, 0.9)


def test_refining_walks_towards_exact_fgw() -> None:
    features, locations = clustered_rollouts([30, 36, 33], noise=0.4, seed=5)
    plain = fgw_barycenter(features, locations, n_support=10, alpha=0.7)
    refined = fgw_barycenter(features, locations, n_support=10, alpha=0.7, refine=20)
    before = objective(features, locations, plain, 0.7)
    assert objective(features, locations, refined, 0.7) < before


def test_coupling_identity_3b() -> None:
    features, locations = clustered_rollouts([15, 22])
    solution = fgw_barycenter(
        features, locations, n_support=6, anchors="coupling", refine=60, tolerance=1e-4
    )
    # At a fixed point the structure cost is the bilinear form itself, term by term.
    plan, place = solution.plans[1].double(), locations[1].double()
    c, c_b = (place[:, None] - place[None]).abs(), solution.structure.double()
    pairs = (c.square() @ plan.sum(1))[:, None] - 2 * c @ plan @ c_b.T
    pairs = pairs + (c_b.square() @ plan.sum(0))[None]
    expected = 0.5 * (plan * pairs).sum(1) / plan.sum(1)
    torch.testing.assert_close(solution.costs_structure[1].double(), expected, atol=2e-4, rtol=2e-2)


def test_planted_novelty_is_found() -> None:
    features, locations = clustered_rollouts([40] * 6, dim=64, noise=0.03, seed=2)
    generator = torch.Generator().manual_seed(9)
    strange = torch.randn(3, 64, generator=generator)
    features[2][17:20] = torch.nn.functional.normalize(strange, dim=-1)
    solution = fgw_barycenter(features, locations, n_support=10)
    top = torch.cat(solution.costs).topk(3).indices.tolist()
    assert sorted(top) == [2 * 40 + 17, 2 * 40 + 18, 2 * 40 + 19]


# --- leave-one-out, scales, anchors --------------------------------------------------------------


def test_leave_one_out_is_the_others_barycenter() -> None:
    features, locations = clustered_rollouts([20, 20, 20], noise=0.3)
    solution = solve_barycenter(
        features, locations, SolverConfig(n_support=6, alpha=0.0), leave_one_out=True
    )
    assert solution.leave_one_out is not None
    # By hand, for rollout 0: the update from the plans of the others.
    shares = [p.T @ h for p, h in zip(solution.plans[1:], features[1:], strict=True)]
    arrived = sum(p.sum(0) for p in solution.plans[1:])
    y = sum(shares) / arrived[:, None]
    plan = solution.leave_one_out.plans[0]
    cost = (plan * torch.cdist(features[0], y).square()).sum(1) * 20
    torch.testing.assert_close(solution.leave_one_out.costs_feature[0], cost, atol=1e-4, rtol=1e-3)
    inside = float(torch.cat(solution.costs).mean())
    outside = float(torch.cat(solution.leave_one_out.costs).mean())
    assert outside > inside  # a rollout pulls its barycenter to itself


def test_leave_one_out_of_one_does_not_exist() -> None:
    features, locations = clustered_rollouts([20])
    solution = solve_barycenter(features, locations, SolverConfig(), leave_one_out=True)
    assert solution.leave_one_out is None


def test_mean_cost_scale_balances_the_parts_at_the_start() -> None:
    features, locations = clustered_rollouts([30, 30, 30], noise=0.5)
    plain = fgw_barycenter(features, locations, n_support=8)
    scaled = fgw_barycenter(features, locations, n_support=8, cost_scale="mean")
    # Scaling features by ten is undone by it, and by nothing else.
    larger = fgw_barycenter([10 * h for h in features], locations, n_support=8, cost_scale="mean")
    torch.testing.assert_close(larger.costs[0], scaled.costs[0], atol=1e-3, rtol=1e-2)
    assert not torch.allclose(plain.costs[0], scaled.costs[0], rtol=0.1)


def test_prompt_anchors_compare_states_with_the_prompt() -> None:
    features, locations = clustered_rollouts([15, 18])
    features = [h.double() for h in features]  # the same solve twice, up to rounding
    prompt = torch.randn(4, 16, generator=torch.Generator().manual_seed(0))
    config = {"structure": "state", "anchors": "prompt", "n_support": 6}
    near = fgw_barycenter(features, locations, anchor_states=prompt, **config)
    same = fgw_barycenter(features, locations, anchor_states=prompt.flip(0), **config)
    torch.testing.assert_close(near.costs[0], same.costs[0], atol=1e-5, rtol=1e-3)
    with pytest.raises(HaraError, match="anchor_states"):
        fgw_barycenter(features, locations, **config)


@pytest.mark.parametrize("anchors", ["quantile", "coupling"])
def test_state_structure_is_blind_to_a_rotation(anchors: Anchors) -> None:
    features, locations = clustered_rollouts([15, 18])
    features = [h.double() for h in features]  # the same solve twice, up to rounding
    generator = torch.Generator().manual_seed(0)
    rotation = torch.linalg.qr(torch.randn(16, 16, generator=generator).double())[0]
    config = {"structure": "state", "alpha": 1.0, "n_support": 6, "anchors": anchors}
    ours = fgw_barycenter(features, locations, **config)
    turned = fgw_barycenter([h @ rotation for h in features], locations, **config)
    torch.testing.assert_close(ours.costs[0], turned.costs[0], atol=1e-4, rtol=1e-2)


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"alpha": 7.0}, "alpha is 7.0"),
        ({"alpha": float("nan")}, "alpha is nan"),
        ({"epsilon": 0.0}, "epsilon is 0.0"),
        ({"n_support": 0}, "n_support is 0"),
        ({"anchors": "heaviest"}, "anchors is 'heaviest'"),
        ({"structure": "graph"}, "structure is 'graph'"),
        ({"refine": -1}, "refine is -1"),
        ({"max_iterations": 2.5}, "max_iterations is 2.5"),
        ({"anchors": "prompt"}, "prompt"),
    ],
)
def test_parameters_out_of_range_are_named(options: dict[str, object], named: str) -> None:
    features, locations = clustered_rollouts([5])
    with pytest.raises(ConfigError, match=named):
        fgw_barycenter(features, locations, **options)


@pytest.mark.parametrize(
    ("features", "locations", "named"),
    [
        ([], [], "got none"),
        ([torch.ones(3, 2), torch.ones(3, 4)], [line(3)] * 2, r"rollout 1: got \(3, 4\)"),
        ([torch.ones(0, 2)], [line(0)], "rollout 0 has no atoms"),
        ([torch.ones(3, 2)], [line(4)], "locations of rollout 0"),
        ([torch.ones(3, 2)], [], "1 features but 0 locations"),
        ([torch.ones(3, 2), torch.full((3, 2), torch.nan)], [line(3)] * 2, "rollout 1"),
    ],
)
def test_bad_rollouts_are_named(features, locations, named: str) -> None:
    with pytest.raises(HaraError, match=named):
        fgw_barycenter(features, locations)
