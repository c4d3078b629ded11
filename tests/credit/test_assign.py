from __future__ import annotations

from typing import Any

import pytest
import torch

from hara_viz.credit import Credit, CreditConfig, assign_credit, assign_credit_packed
from hara_viz.errors import HaraError, InvalidInputError, ShapeError
from hara_viz.ot import fgw_barycenter
from tests.ot.planted import clustered_rollouts

NAN = float("nan")
LENGTHS = [14, 20, 17, 11, 16, 19, 12, 15]
REWARDS = [1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]


def batch(lengths: list[int] = LENGTHS, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    features, _ = clustered_rollouts(lengths, noise=0.3, seed=seed)
    hidden = torch.zeros(len(lengths), max(lengths), 16)
    mask = torch.zeros(len(lengths), max(lengths), dtype=torch.bool)
    for row, h in enumerate(features):
        hidden[row, : len(h)] = 3 * h
        mask[row, : len(h)] = True
    return hidden, mask


def credit(config: CreditConfig | None = None, rewards: Any = REWARDS, **options: Any) -> Credit:
    hidden, mask = batch()
    groups = torch.zeros(8, dtype=torch.long)
    return assign_credit(hidden, mask, torch.tensor(rewards), groups, config, **options)


def assert_same(a: Credit, b: Credit, rows: list[int] | None = None, **tolerance: float) -> None:
    pick = slice(None) if rows is None else rows
    for name in ("advantages", "weights", "novelty", "novelty_feature", "novelty_structure"):
        torch.testing.assert_close(
            getattr(a, name), getattr(b, name)[pick], msg=name, **(tolerance or {})
        )


# --- what the numbers are ------------------------------------------------------------------------


def test_advantage_is_baseline_times_weight_and_the_rollout_keeps_its_total() -> None:
    got = credit()
    _, mask = batch()
    torch.testing.assert_close(got.advantages, got.baseline[:, None] * got.weights)
    means = (got.weights * mask).sum(1) / mask.sum(1)
    torch.testing.assert_close(means, torch.ones(8), atol=1e-6, rtol=0)
    torch.testing.assert_close(got.novelty, got.novelty_feature + got.novelty_structure)
    assert float(got.weights[mask].std()) > 0.1  # it does reweight
    assert float(got.weights[~mask].abs().sum()) == 0 == float(got.advantages[~mask].abs().sum())


def test_novelty_is_the_cost_of_the_transport_room() -> None:
    hidden, mask = batch()
    got = credit()
    rows = [r for r, reward in enumerate(REWARDS) if reward == 1.0]
    # Scaled as the credit room scales, largest entry first, so that nothing differs by rounding.
    scaled = [hidden[r][mask[r]] / hidden[r][mask[r]].abs().amax(-1, keepdim=True) for r in rows]
    states = [h / h.norm(dim=-1, keepdim=True) for h in scaled]
    lines = [torch.arange(len(h)) / (len(h) - 1) for h in states]
    solution = fgw_barycenter(states, lines, n_support="auto")
    for row, cost in zip(rows, solution.costs, strict=True):
        torch.testing.assert_close(got.novelty[row][mask[row]], cost, atol=1e-6, rtol=1e-5)
    outcome = got.outcomes[0]
    assert outcome.success and outcome.rows == tuple(rows)
    assert outcome.barycenter is not None
    torch.testing.assert_close(outcome.barycenter.features, solution.features, atol=1e-6, rtol=0)
    assert outcome.iterations == solution.iterations and outcome.converged == solution.converged


def test_weights_by_hand() -> None:
    got = credit(CreditConfig(strength=0.3, weight_range=(0.0, 100.0), conserve="none"))
    _, mask = batch()
    rows = [r for r, reward in enumerate(REWARDS) if reward == 1.0]
    novelty = torch.cat([got.novelty[r][mask[r]] for r in rows]).double()
    z = (novelty - novelty.mean()) / (novelty.std(correction=0) + 1e-6)
    expected = (1 + 0.3 * z).clamp(0, 100).float()
    torch.testing.assert_close(torch.cat([got.weights[r][mask[r]] for r in rows]), expected)


def test_planted_novelty_gets_the_highest_weight() -> None:
    features, _ = clustered_rollouts([40] * 6, dim=64, noise=0.03, seed=2)
    generator = torch.Generator().manual_seed(9)
    features[2][17:20] = torch.nn.functional.normalize(
        torch.randn(3, 64, generator=generator), dim=-1
    )
    hidden = torch.stack(features)
    mask = torch.ones(6, 40, dtype=torch.bool)
    rewards = torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    got = assign_credit(hidden, mask, rewards, torch.zeros(6, dtype=torch.long))
    top = got.weights[2].topk(3).indices.sort().values
    assert top.tolist() == [17, 18, 19]


# --- granularity, conserve, incorrect ------------------------------------------------------------


def test_step_level_gives_each_token_of_a_step_the_same_weight() -> None:
    steps = (torch.arange(20) // 4).expand(8, 20)
    got = credit(CreditConfig(granularity="step"), reasoning_step=steps)
    _, mask = batch()
    for row in range(8):
        for step in range(5):
            inside = got.weights[row][mask[row] & (steps[row] == step)]
            if len(inside):
                assert float(inside.max() - inside.min()) == 0.0
    raw = credit()
    inside = raw.novelty[0][:4].mean()
    z_order = got.weights[0][0] > got.weights[0][4]
    assert bool(z_order) == bool(inside > raw.novelty[0][4:8].mean())


def test_rollout_level_moves_credit_between_rollouts_only() -> None:
    got = credit(CreditConfig(granularity="rollout"))
    _, mask = batch()
    for row in range(8):
        own = got.weights[row][mask[row]]
        assert float(own.max() - own.min()) == 0.0
    for outcome in got.outcomes:
        tokens = torch.cat([got.weights[r][mask[r]] for r in outcome.rows])
        assert float(tokens.mean()) == pytest.approx(1.0, abs=1e-6)
        assert float(tokens.std()) > 0.05


def test_rollout_level_is_cancelled_by_conserving_rollouts_and_said_so() -> None:
    got = credit(CreditConfig(granularity="rollout", conserve="rollout"))
    _, mask = batch()
    torch.testing.assert_close(got.weights[mask], torch.ones(int(mask.sum())))
    assert any("cancels the rollout level" in note for note in got.diagnostics[0].notes)


def test_a_mix_is_the_mix_of_standardised_levels() -> None:
    wide = {"weight_range": (0.0, 100.0), "conserve": "none", "strength": 0.1}
    token = credit(CreditConfig(granularity="token", **wide)).weights - 1
    rollout = credit(CreditConfig(granularity="rollout", **wide)).weights - 1
    mixed = credit(CreditConfig(granularity={"token": 3, "rollout": 1}, **wide)).weights - 1
    _, mask = batch()
    torch.testing.assert_close(
        mixed[mask], (0.75 * token + 0.25 * rollout)[mask], atol=1e-6, rtol=1e-4
    )


@pytest.mark.parametrize(("mode", "sign"), [("amplify", 1.0), ("shield", -1.0), ("uniform", 0.0)])
def test_incorrect_modes(mode: Any, sign: float) -> None:
    wide = {"weight_range": (0.0, 100.0), "conserve": "none", "strength": 0.1}
    plain = credit(CreditConfig(**wide))
    got = credit(CreditConfig(incorrect=mode, **wide))
    _, mask = batch()
    for row, reward in enumerate(REWARDS):
        factor = 1.0 if reward == 1.0 else sign
        expected = 1 + factor * (plain.weights[row][mask[row]] - 1)
        torch.testing.assert_close(got.weights[row][mask[row]], expected, atol=1e-6, rtol=1e-5)


def test_a_weight_never_turns_the_sign_of_an_advantage() -> None:
    got = credit(CreditConfig(strength=50.0, weight_range=(0.0, 10.0)))
    _, mask = batch()
    signs = torch.sign(got.baseline)[:, None].expand_as(mask)
    assert bool((got.advantages * signs >= 0)[mask].all())


# --- signals -------------------------------------------------------------------------------------


def test_uniform_is_plain_grpo() -> None:
    got = credit(CreditConfig(signal="uniform"))
    _, mask = batch()
    assert torch.equal(got.weights, mask.float())
    torch.testing.assert_close(got.advantages[mask], (got.baseline[:, None] * mask)[mask])


def test_position_entropy_surprisal_are_what_they_say() -> None:
    _, mask = batch()
    entropy = torch.rand(mask.shape)
    logprobs = -torch.rand(mask.shape)
    position = credit(CreditConfig(signal="position"))
    torch.testing.assert_close(position.novelty[0][:14], torch.arange(14) / 13)
    got = credit(CreditConfig(signal="entropy"), entropy=entropy)
    torch.testing.assert_close(got.novelty[mask], entropy[mask])
    got = credit(CreditConfig(signal="surprisal"), logprobs=logprobs)
    torch.testing.assert_close(got.novelty[mask], -logprobs[mask])


def test_shear_is_zero_for_a_span_that_the_other_outcome_has_too() -> None:
    features, _ = clustered_rollouts([32, 32, 32, 32], noise=0.3)
    features[1] = features[2].clone()  # a correct rollout equal to an incorrect one
    hidden, mask = torch.stack(features), torch.ones(4, 32, dtype=torch.bool)
    rewards = torch.tensor([1.0, 1.0, 0.0, 0.0])
    config = CreditConfig(signal="shear")
    got = assign_credit(hidden, mask, rewards, torch.zeros(4, dtype=torch.long), config)
    assert float(got.novelty[1].max()) < 0.2 * float(got.novelty[0].mean())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"signal": "entropy"}, "entropy was not given"),
        ({"signal": "surprisal"}, "logprobs was not given"),
        ({"granularity": "step"}, "reasoning_step was not given"),
        ({"granularity": {"step": 0.1, "token": 1}}, "reasoning_step was not given"),
        ({"anchors": "prompt", "structure": "state"}, "anchor_states were not given"),
    ],
)
def test_a_signal_whose_input_is_missing_is_an_error(options: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        credit(CreditConfig(**options))


def test_unknown_entropy_of_a_token_is_said_and_not_used() -> None:
    entropy = torch.rand(8, 20)
    entropy[0, 3] = NAN
    got = credit(CreditConfig(signal="entropy"), entropy=entropy)
    assert float((got.weights[0][:14] - 1).abs().max()) == 0.0
    assert any("entropy is unknown" in note for note in got.diagnostics[0].notes)


# --- references ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reference", ["same_outcome", "leave_one_out", "opposite_outcome", "group"]
)
def test_the_barycenter_is_the_classs_own_whatever_the_reference(reference: Any) -> None:
    own = credit()
    got = credit(CreditConfig(reference=reference))
    for a, b in zip(own.outcomes, got.outcomes, strict=True):
        assert a.barycenter is not None and b.barycenter is not None
        torch.testing.assert_close(a.barycenter.features, b.barycenter.features)
    differs = not torch.allclose(own.novelty, got.novelty, atol=1e-4)
    assert differs == (reference != "same_outcome")


def test_opposite_reference_prefers_the_other_pattern() -> None:
    """A correct rollout that copies the incorrect ones is near their pattern."""
    right, _ = clustered_rollouts([24] * 3, noise=0.1, seed=0)
    wrong, _ = clustered_rollouts([24] * 3, noise=0.1, seed=1)
    hidden = torch.stack([right[0], right[1], wrong[2], wrong[0], wrong[1]])
    rewards = torch.tensor([1.0, 1.0, 1.0, 0.0, 0.0])
    config = CreditConfig(reference="opposite_outcome")
    mask, groups = torch.ones(5, 24, dtype=torch.bool), torch.zeros(5, dtype=torch.long)
    got = assign_credit(hidden, mask, rewards, groups, config)
    means = got.novelty.mean(1)
    assert float(means[2]) < 0.5 * float(means[:2].min())


# --- independence --------------------------------------------------------------------------------


def test_padding_and_its_content_do_not_matter() -> None:
    hidden, mask = batch()
    wide = torch.full((8, 29, 16), 7.0)
    wide_mask = torch.zeros(8, 29, dtype=torch.bool)
    wide[:, 3:23] = torch.where(mask[..., None], hidden, torch.tensor(7.0))
    wide_mask[:, 3:23] = mask
    groups, rewards = torch.zeros(8, dtype=torch.long), torch.tensor(REWARDS)
    ours = assign_credit(hidden, mask, rewards, groups)
    theirs = assign_credit(wide, wide_mask, rewards, groups)
    assert torch.equal(theirs.weights[:, 3:23], ours.weights)
    assert float(theirs.weights[:, :3].abs().sum()) == 0


def test_holes_in_the_mask_are_no_tokens() -> None:
    """Tool output between own tokens carries no mass and takes no place."""
    hidden, mask = batch()
    apart = torch.zeros(8, 25, 16)
    apart_mask = torch.zeros(8, 25, dtype=torch.bool)
    places = [*range(6), *range(11, 25)]
    apart[:, places], apart_mask[:, places] = hidden, mask
    apart[:, 6:11] = torch.randn(8, 5, 16)
    groups, rewards = torch.zeros(8, dtype=torch.long), torch.tensor(REWARDS)
    ours = assign_credit(hidden, mask, rewards, groups)
    theirs = assign_credit(apart, apart_mask, rewards, groups)
    assert torch.equal(theirs.advantages[:, places], ours.advantages)


def test_order_of_rows_and_other_groups_do_not_matter() -> None:
    hidden, mask = batch()
    more, more_mask = batch(seed=5)
    rewards = torch.tensor(REWARDS)
    alone = assign_credit(hidden, mask, rewards, torch.zeros(8, dtype=torch.long))
    order = torch.tensor([3, 9, 0, 12, 1, 5, 8, 2, 4, 15, 6, 7, 10, 11, 13, 14])
    both = assign_credit(
        torch.cat([hidden, more])[order],
        torch.cat([mask, more_mask])[order],
        torch.cat([rewards, 1 - rewards])[order],
        torch.tensor([4] * 8 + [2] * 8)[order],
    )
    inverse = order.argsort()[:8].tolist()
    assert_same(alone, both, inverse, atol=0.0, rtol=0.0)
    assert [d.group for d in both.diagnostics] == [2, 4]


def test_packed_and_padded_doors_agree() -> None:
    hidden, mask = batch()
    lengths = torch.tensor(LENGTHS)
    offsets = torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)])
    rewards, groups = torch.tensor(REWARDS), torch.zeros(8, dtype=torch.long)
    padded = assign_credit(hidden, mask, rewards, groups)
    packed = assign_credit_packed(hidden[mask], offsets, rewards, groups)
    assert torch.equal(packed.advantages, padded.advantages[mask])
    assert torch.equal(packed.novelty_structure, padded.novelty_structure[mask])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_dtypes_are_upcast_not_mixed(dtype: torch.dtype) -> None:
    hidden, mask = batch()
    rewards, groups = torch.tensor(REWARDS), torch.zeros(8, dtype=torch.long)
    ours = assign_credit(hidden.to(dtype), mask, rewards, groups)
    upcast = assign_credit(hidden.to(dtype).float(), mask, rewards, groups)
    assert ours.advantages.dtype == torch.float32
    assert_same(ours, upcast)


def test_deterministic_and_without_gradients() -> None:
    hidden, mask = batch()
    rewards, groups = torch.tensor(REWARDS), torch.zeros(8, dtype=torch.long)
    first = assign_credit(hidden.requires_grad_(), mask, rewards, groups)
    second = assign_credit(hidden, mask, rewards, groups)
    assert torch.equal(first.advantages, second.advantages)
    assert not first.advantages.requires_grad


def test_a_massive_activation_does_not_overflow() -> None:
    hidden, mask = batch()
    hidden[0, 0] = 1e30
    rewards, groups = torch.tensor(REWARDS), torch.zeros(8, dtype=torch.long)
    assert torch.isfinite(assign_credit(hidden, mask, rewards, groups).weights).all()


# --- degenerate cases, each named ----------------------------------------------------------------


def test_equal_rewards_show_novelty_but_no_advantage() -> None:
    got = credit(rewards=[1.0] * 8)
    record = got.diagnostics[0]
    assert record.no_signal and record.n_success == 8
    assert any("All 8 scored rewards are equal" in note for note in record.notes)
    assert float(got.advantages.abs().max()) == 0.0
    _, mask = batch()
    assert float(got.novelty[mask].min()) > 0 and float(got.weights[mask].std()) > 0.1


def test_a_lone_rollout_has_no_pattern_to_differ_from() -> None:
    got = credit(rewards=[1.0] + [0.0] * 7)
    record = got.diagnostics[0]
    assert record.lone_outcomes == (True,)
    assert any("only correct rollout" in note for note in record.notes)
    assert float(got.novelty[0].max()) == 0.0
    torch.testing.assert_close(got.weights[0][:14], torch.ones(14))
    assert float(got.advantages[0][0]) == pytest.approx(float(got.baseline[0]))
    assert got.outcomes[0].barycenter is None and got.outcomes[0].plans == ()


def test_unscored_rollouts_are_left_out_and_counted() -> None:
    rewards = [1.0, NAN, 0.0, 1.0, 0.0, 1.0, NAN, 0.0]
    got = credit(rewards=rewards)
    hidden, mask = batch()
    kept = [0, 2, 3, 4, 5, 7]
    without = assign_credit(
        hidden[kept], mask[kept], torch.tensor(rewards)[kept], torch.zeros(6, dtype=torch.long)
    )
    assert_same(without, got, kept, atol=0.0, rtol=0.0)
    for row in (1, 6):
        assert float(got.novelty[row].abs().max()) == 0 == float(got.advantages[row].abs().max())
        torch.testing.assert_close(got.weights[row], mask[row].float())
    assert got.diagnostics[0].n_unscored == 2


def test_a_rollout_without_tokens_counts_in_the_baseline_only() -> None:
    hidden, mask = batch()
    mask[0] = False
    groups = torch.zeros(8, dtype=torch.long)
    got = assign_credit(hidden, mask, torch.tensor(REWARDS), groups)
    assert got.diagnostics[0].n_empty == 1
    assert 0 not in got.outcomes[0].rows
    torch.testing.assert_close(got.baseline, credit().baseline)


@pytest.mark.parametrize("rewards", [[NAN] * 8, [NAN] * 7 + [1.0]])
def test_hardly_any_reward(rewards: list[float]) -> None:
    got = credit(rewards=rewards)
    assert float(got.advantages.abs().max()) == 0.0 and got.diagnostics[0].no_signal
    assert torch.isfinite(got.weights).all()


def test_constant_states_have_no_novelty_of_meaning() -> None:
    hidden, mask = batch()
    flat = torch.ones_like(hidden)
    groups, rewards = torch.zeros(8, dtype=torch.long), torch.tensor(REWARDS)
    got = assign_credit(flat, mask, rewards, groups, CreditConfig(alpha=0.0))
    assert float(got.novelty.abs().max()) < 1e-10
    torch.testing.assert_close(got.weights[mask], torch.ones(int(mask.sum())))


def test_one_token_rollouts_and_an_empty_batch() -> None:
    hidden = torch.randn(4, 1, 8)
    mask = torch.ones(4, 1, dtype=torch.bool)
    rewards = torch.tensor([1.0, 1.0, 0.0, 0.0])
    got = assign_credit(hidden, mask, rewards, torch.zeros(4, dtype=torch.long))
    torch.testing.assert_close(got.weights, torch.ones(4, 1))
    empty = assign_credit(
        torch.zeros(0, 5, 8), torch.zeros(0, 5, dtype=torch.bool), torch.zeros(0), torch.zeros(0)
    )
    assert empty.advantages.shape == (0, 5) and empty.diagnostics == ()


def test_non_convergence_is_reported() -> None:
    got = credit(CreditConfig(max_iterations=1, tolerance=1e-7))
    assert got.diagnostics[0].not_converged == (True, False)
    assert any("did not converge" in note for note in got.diagnostics[0].notes)


def test_a_healthy_group_has_no_notes() -> None:
    assert credit(CreditConfig(tolerance=0.1)).diagnostics[0].notes == ()


# --- the trainer's own advantages ----------------------------------------------------------------


def test_given_advantages_replace_the_baseline_and_are_named() -> None:
    given = torch.linspace(-2, 2, 8)
    got = credit(baseline_advantages=given)
    torch.testing.assert_close(got.baseline, given)
    assert got.diagnostics[0].baseline == "given"
    torch.testing.assert_close(got.weights, credit().weights)


# --- bad input -----------------------------------------------------------------------------------


def test_states_that_are_not_finite_are_named_by_row() -> None:
    hidden, mask = batch()
    hidden[5, 2, 3] = float("inf")
    with pytest.raises(InvalidInputError, match="row 5"):
        assign_credit(hidden, mask, torch.tensor(REWARDS), torch.zeros(8, dtype=torch.long))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"mask": torch.ones(8, 3, dtype=torch.bool)}, "do not fit"),
        ({"rewards": torch.zeros(3)}, "rewards"),
        ({"group_index": torch.zeros(9)}, "group_index"),
        ({"entropy": torch.zeros(8, 2)}, "entropy"),
        ({"baseline_advantages": torch.zeros(2)}, "baseline_advantages"),
    ],
)
def test_shapes_that_do_not_fit_are_named(change: dict[str, torch.Tensor], named: str) -> None:
    hidden, mask = batch()
    inputs: dict[str, Any] = {
        "hidden": hidden,
        "mask": mask,
        "rewards": torch.tensor(REWARDS),
        "group_index": torch.zeros(8, dtype=torch.long),
    }
    with pytest.raises(ShapeError, match=named):
        assign_credit(**(inputs | change))


def test_infinite_rewards_are_refused() -> None:
    with pytest.raises(HaraError, match="row 2 is infinite"):
        credit(rewards=[1.0, 0.0, float("inf"), *REWARDS[3:]])
