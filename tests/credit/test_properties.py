"""What must hold for the credit of any batch under any config."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from hara_viz.credit import Credit, CreditConfig, assign_credit_packed

always = settings(max_examples=40, deadline=None, derandomize=True)
NAN = float("nan")


@st.composite
def batches(draw: st.DrawFn) -> dict[str, Tensor]:
    """Packed: one to three groups mixed, empty and one-token rollouts, equal and unscored ones."""
    lengths = draw(st.lists(st.integers(0, 12), min_size=1, max_size=9))
    rows = st.lists(
        st.sampled_from([0.0, 1.0, 0.4, NAN]), min_size=len(lengths), max_size=len(lengths)
    )
    groups = st.lists(st.integers(0, 2), min_size=len(lengths), max_size=len(lengths))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    n, dim = sum(lengths), draw(st.integers(1, 5))
    kinds = torch.randn(draw(st.sampled_from([1, 2, 50])), dim, generator=generator)
    steps = [torch.arange(length) // 3 for length in lengths]
    return {
        "states": kinds[torch.randint(len(kinds), (n,), generator=generator)],
        "offsets": torch.tensor([0, *lengths]).cumsum(0),
        "rewards": torch.tensor(draw(rows)),
        "group_index": torch.tensor(draw(groups)),
        "reasoning_step": torch.cat([*steps, torch.zeros(0, dtype=torch.long)]),
        "entropy": torch.rand(n, generator=generator),
        "logprobs": -torch.rand(n, generator=generator),
    }


@st.composite
def configs(draw: st.DrawFn) -> CreditConfig:
    shares = st.sampled_from([0.0, 0.1, 1.0])
    mix = {level: draw(shares) for level in ("token", "step", "rollout")}
    return CreditConfig(
        signal=draw(st.sampled_from(["hara", "hara", "position", "entropy", "surprisal", "shear"])),
        baseline=draw(st.sampled_from(["grpo", "grpo_verl", "dr_grpo", "rloo", "maxrl"])),
        alpha=draw(st.sampled_from([0.0, 0.5, 1.0])),
        epsilon=draw(st.sampled_from([1e-3, 0.02, 10.0])),
        normalize=draw(st.sampled_from(["l2", "center_l2", "none"])),
        location=draw(st.sampled_from(["relative", "absolute"])),
        reference=draw(
            st.sampled_from(["same_outcome", "leave_one_out", "opposite_outcome", "group"])
        ),
        granularity=mix if sum(mix.values()) else "token",
        strength=draw(st.sampled_from([0.0, 0.5, 40.0])),
        weight_range=draw(st.sampled_from([(0.2, 3.0), (0.0, 1.5), (1.0, 1.0)])),
        conserve=draw(st.sampled_from(["auto", "rollout", "outcome", "none"])),
        incorrect=draw(st.sampled_from(["amplify", "shield", "uniform"])),
        max_iterations=15,
    )


def rows_of(credit: Credit, batch: dict[str, Tensor], row: int) -> Tensor:
    offsets = batch["offsets"].tolist()
    return credit.weights[offsets[row] : offsets[row + 1]].double()


@always
@given(batches(), configs())
def test_weights_keep_their_promises(batch: dict[str, Tensor], config: CreditConfig) -> None:
    credit = assign_credit_packed(**batch, config=config)
    low, high = config.weight_range
    assert bool(credit.weights.isfinite().all() & credit.novelty.isfinite().all())
    assert bool((credit.weights >= low - 1e-6).all() & (credit.weights <= high + 1e-6).all())
    rows = torch.arange(len(batch["rewards"])).repeat_interleave(batch["offsets"].diff())
    a = credit.baseline[rows]
    torch.testing.assert_close(credit.advantages, a * credit.weights, atol=1e-5, rtol=1e-5)
    assert bool((credit.advantages * a >= 0).all())
    for outcome in credit.outcomes:
        parts = [rows_of(credit, batch, row) for row in outcome.rows]
        if config.conserved() == "rollout":
            assert all(abs(float(part.mean()) - 1) < 1e-5 for part in parts)
        elif config.conserved() == "outcome":
            assert abs(float(torch.cat(parts).mean()) - 1) < 1e-5
    unscored = batch["rewards"].isnan()[rows]
    assert bool((credit.weights[unscored] == 1).all() & (credit.advantages[unscored] == 0).all())


@always
@given(batches(), configs())
def test_groups_do_not_feel_each_other(batch: dict[str, Tensor], config: CreditConfig) -> None:
    credit = assign_credit_packed(**batch, config=config)
    groups, lengths = batch["group_index"], batch["offsets"].diff()
    kept = groups == groups[0]
    tokens = kept.repeat_interleave(lengths)
    alone = {
        name: values[kept] if name in ("rewards", "group_index") else values[tokens]
        for name, values in batch.items()
        if name != "offsets"
    }
    offsets = torch.cat([torch.zeros(1, dtype=torch.long), lengths[kept].cumsum(0)])
    own = assign_credit_packed(**alone, offsets=offsets, config=config)
    assert torch.equal(own.weights, credit.weights[tokens])
    assert torch.equal(own.advantages, credit.advantages[tokens])
