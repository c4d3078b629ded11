"""References, structures, scales and mixes where the answer can be written down.

With one support point the only plan is p, so every barycenter is a mean and every novelty has a
closed form. Above that, exact FGW and the transport room are the oracles.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from hara_viz.analysis.ranks import spearman
from hara_viz.credit import Credit, CreditConfig, assign_credit_packed
from hara_viz.ot import fgw_barycenter
from tests.ot.planted import clustered_rollouts, line

LENGTHS = [9, 14, 11, 8, 12]
REWARDS = [1.0, 0.0, 1.0, 1.0, 0.0]
RIGHT, WRONG = [0, 2, 3], [1, 4]
ANCHORS = 16


def states() -> list[Tensor]:
    """Neither centred nor of unit length."""
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(n, 5, generator=generator) + 0.5 for n in LENGTHS]


def credit(rollouts: list[Tensor], rewards: list[float] = REWARDS, **options: Any) -> Credit:
    extra = {k: options.pop(k) for k in ("reasoning_step", "anchor_states") if k in options}
    return assign_credit_packed(
        torch.cat(rollouts),
        torch.tensor([0, *map(len, rollouts)]).cumsum(0),
        torch.tensor(rewards),
        torch.zeros(len(rollouts), dtype=torch.long),
        CreditConfig(**options),
        **extra,
    )


def parts(rollouts: list[Tensor], values: Tensor) -> list[Tensor]:
    return list(values.split([len(h) for h in rollouts]))


def distances(length: int) -> Tensor:
    """σ [T, A]: places from quantile anchors."""
    return (line(length)[:, None] - torch.linspace(0, 1, ANCHORS)).abs()


def mean_of_means(values: list[Tensor], rows: list[int]) -> Tensor:
    return torch.stack([values[row].mean(0) for row in rows]).mean(0)


def one_point(h: Tensor, y: Tensor, sigma: Tensor, tau: Tensor, alpha: float) -> Tensor:
    """(6) where everything is matched to one support point (y, τ)."""
    feature, structure = (h - y).square().sum(1), (sigma - tau).square().mean(1)
    return (1 - alpha) * feature + alpha * structure


# --- references ---


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    "reference", ["same_outcome", "leave_one_out", "opposite_outcome", "group"]
)
def test_novelty_against_every_reference_by_hand(reference: Any, alpha: float) -> None:
    rollouts = states()
    sigmas = [distances(n) for n in LENGTHS]
    found = credit(rollouts, reference=reference, alpha=alpha, n_support=1, normalize="none")
    for row, novelty in enumerate(parts(rollouts, found.novelty)):
        own, other = (RIGHT, WRONG) if row in RIGHT else (WRONG, RIGHT)
        compared = {
            "same_outcome": own,
            "leave_one_out": [r for r in own if r != row],
            "opposite_outcome": other,
            "group": RIGHT + WRONG,
        }[reference]
        y, tau = mean_of_means(rollouts, compared), mean_of_means(sigmas, compared)
        expected = one_point(rollouts[row], y, sigmas[row], tau, alpha)
        torch.testing.assert_close(novelty, expected, atol=1e-5, rtol=1e-4)


def test_leaving_a_token_out_of_its_own_mean_makes_it_more_novel_by_a_known_factor() -> None:
    rollouts = [h[:1] for h in states()]
    inside = credit(rollouts, [1.0] * 5, normalize="none")
    outside = credit(rollouts, [1.0] * 5, normalize="none", reference="leave_one_out")
    torch.testing.assert_close(outside.novelty, (5 / 4) ** 2 * inside.novelty)


def test_the_groups_barycenter_is_that_of_all_scored_rollouts() -> None:
    features, locations = clustered_rollouts([20, 25, 31, 18, 22], noise=0.3)
    found = credit(features, reference="group", normalize="none")
    order = RIGHT + WRONG
    solution = fgw_barycenter(
        [features[r] for r in order], [locations[r] for r in order], n_support="auto"
    )
    novelty = parts(features, found.novelty)
    for row, cost in zip(order, solution.costs, strict=True):
        torch.testing.assert_close(novelty[row], cost, atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize("reference", ["leave_one_out", "opposite_outcome", "group"])
def test_references_rank_tokens_as_exact_fgw_does(reference: Any) -> None:
    features, _ = clustered_rollouts([30, 36, 33, 28, 31, 35], dim=24, noise=0.15, seed=3)
    rewards = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    ours = credit(features, rewards, reference=reference)
    exact = credit(features, rewards, reference=reference, solver="exact")
    rho = spearman(ours.novelty.numpy(), exact.novelty.numpy())
    assert rho is not None and rho > 0.8


# --- state structure and prompt anchors ---


def test_prompt_anchors_measure_how_far_a_state_is_from_the_prompt() -> None:
    rollouts = states()
    prompt = torch.randn(4, 5, generator=torch.Generator().manual_seed(1))
    found = credit(
        rollouts,
        alpha=1.0,
        n_support=1,
        structure="state",
        anchors="prompt",
        normalize="none",
        anchor_states=prompt.expand(5, 4, 5),
    )
    sigmas = [torch.cdist(h, prompt) for h in rollouts]
    for row, novelty in enumerate(parts(rollouts, found.novelty)):
        tau = mean_of_means(sigmas, RIGHT if row in RIGHT else WRONG)
        expected = (sigmas[row] - tau).square().mean(1)
        torch.testing.assert_close(novelty, expected, atol=1e-4, rtol=1e-3)


def test_prompt_anchors_are_normalised_like_the_states() -> None:
    features, _ = clustered_rollouts([12, 15, 11, 14, 13], noise=0.3)
    prompt = torch.randn(3, 16, generator=torch.Generator().manual_seed(1))
    options: dict[str, Any] = {"structure": "state", "anchors": "prompt", "normalize": "l2"}
    ours = credit(features, anchor_states=prompt.expand(5, 3, 16), **options)
    longer = credit(
        [8 * h for h in features], anchor_states=(8 * prompt).expand(5, 3, 16), **options
    )
    assert torch.equal(ours.novelty, longer.novelty)  # powers of two are exact


def test_states_seen_through_prompt_anchors_need_no_common_basis() -> None:
    """α = 1: a rotation of one model's space, prompt included, changes nothing."""
    features, _ = clustered_rollouts([12, 15, 11, 14, 13], noise=0.3)
    generator = torch.Generator().manual_seed(1)
    prompt = torch.randn(3, 16, generator=generator)
    turn = torch.linalg.qr(torch.randn(16, 16, generator=generator))[0]
    options: dict[str, Any] = {"structure": "state", "anchors": "prompt", "alpha": 1.0}
    ours = credit(features, anchor_states=prompt.expand(5, 3, 16), **options)
    turned = credit(
        [h @ turn for h in features], anchor_states=(prompt @ turn).expand(5, 3, 16), **options
    )
    torch.testing.assert_close(ours.novelty, turned.novelty, atol=1e-4, rtol=1e-2)


# --- scales ---


@pytest.mark.parametrize("alpha", [0.2, 0.5])
def test_cost_scale_mean_divides_each_part_by_its_mean_at_the_start(alpha: float) -> None:
    """One support point: the start is the answer, so the parts average to 1 − α and α."""
    rollouts = states()
    plain = credit(rollouts, [1.0] * 5, alpha=alpha, n_support=1, normalize="none")
    found = credit(
        rollouts, [1.0] * 5, alpha=alpha, n_support=1, normalize="none", cost_scale="mean"
    )
    for raw, scaled, share in (
        (plain.novelty_feature, found.novelty_feature, 1 - alpha),
        (plain.novelty_structure, found.novelty_structure, alpha),
    ):
        mean = torch.stack([part.mean() for part in parts(rollouts, raw)]).mean()
        torch.testing.assert_close(scaled, share * raw / mean, atol=1e-5, rtol=1e-4)
        means = torch.stack([part.mean() for part in parts(rollouts, scaled)])
        assert float(means.mean()) == pytest.approx(share, rel=1e-4)


# --- hierarchical mixes ---


def test_three_levels_are_mixed_by_hand() -> None:
    rollouts = states()
    steps = [torch.arange(n) // 3 for n in LENGTHS]
    shares = {"token": 0.5, "step": 0.3, "rollout": 0.2}
    found = credit(
        rollouts,
        granularity=shares,
        strength=0.1,
        conserve="none",
        weight_range=(0.0, 50.0),
        reasoning_step=torch.cat(steps),
    )
    novelty = [part.double() for part in parts(rollouts, found.novelty)]
    by_step = [
        torch.stack([n[s == k].mean() for k in s.tolist()])
        for n, s in zip(novelty, steps, strict=True)
    ]
    by_rollout = [torch.full_like(n, float(n.mean())) for n in novelty]
    weights = parts(rollouts, found.weights)
    for rows in (RIGHT, WRONG):
        z = torch.zeros(sum(LENGTHS[r] for r in rows), dtype=torch.float64)
        for level, share in zip((novelty, by_step, by_rollout), shares.values(), strict=True):
            values = torch.cat([level[r] for r in rows])
            z += share * (values - values.mean()) / (values.std(correction=0) + 1e-6)
        expected = (1 + 0.1 * z).float()
        torch.testing.assert_close(torch.cat([weights[r] for r in rows]), expected)


# --- shear ---


def test_shear_between_constant_rollouts_is_their_squared_distance() -> None:
    """Every plan costs the same, and the nearer of two rollouts counts."""
    right, near, far = torch.eye(3)[0], torch.tensor([0.6, 0.8, 0.0]), torch.eye(3)[2]
    rollouts = [right.repeat(20, 1), near.repeat(9, 1), far.repeat(40, 1)]
    found = credit(rollouts, [1.0, 0.0, 0.0], signal="shear")
    first, second, third = parts(rollouts, found.novelty)
    torch.testing.assert_close(first, torch.full((20,), 0.8), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(second, torch.full((9,), 0.8), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(third, torch.full((40,), 2.0), atol=1e-5, rtol=1e-4)
