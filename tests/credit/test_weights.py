from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hara_viz.credit.weights import clip_to_mean_one, standardise

ONE = torch.zeros(5, dtype=torch.long)


def test_without_clipping_the_shift_is_the_mean() -> None:
    raw = torch.tensor([0.8, 1.0, 1.2, 1.6, 0.9], dtype=torch.float64)
    weights = clip_to_mean_one(raw, ONE, 0.2, 3.0)
    torch.testing.assert_close(weights, raw - raw.mean() + 1)


def test_with_clipping_mean_bounds_and_spacing_hold_together() -> None:
    raw = torch.tensor([9.0, 1.0, 1.1, 0.9, 0.8], dtype=torch.float64)
    weights = clip_to_mean_one(raw, ONE, 0.2, 3.0)
    # By hand: the first is clipped at 3, the others share 2, mean 0.5, spacing kept.
    expected = torch.tensor([3.0, 0.55, 0.65, 0.45, 0.35], dtype=torch.float64)
    torch.testing.assert_close(weights, expected)


def test_it_is_the_euclidean_projection() -> None:
    raw = torch.tensor([4.0, 0.1, 1.3, 0.4, 2.2], dtype=torch.float64)
    weights = clip_to_mean_one(raw, ONE, 0.3, 1.8)
    nearest = float((weights - raw).square().sum())
    generator = torch.Generator().manual_seed(0)
    for _ in range(2000):
        step = 0.1 * torch.randn(5, generator=generator, dtype=torch.float64)
        other = weights + step - step.mean()
        if bool(((other >= 0.3) & (other <= 1.8)).all()):
            assert float((other - raw).square().sum()) >= nearest - 1e-12


def test_segments_do_not_feel_each_other() -> None:
    raw = torch.randn(40, dtype=torch.float64) * 3
    segments = torch.arange(40) % 4
    together = clip_to_mean_one(raw, segments, 0.2, 3.0)
    for s in range(4):
        own = segments == s
        alone = clip_to_mean_one(raw[own], torch.zeros(10, dtype=torch.long), 0.2, 3.0)
        torch.testing.assert_close(together[own], alone, rtol=0, atol=1e-13)


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.floats(-50, 50), min_size=1, max_size=30),
    low=st.floats(0, 1),
    high=st.floats(1, 5),
)
def test_mean_is_one_and_bounds_hold_for_any_input(
    values: list[float], low: float, high: float
) -> None:
    raw = torch.tensor(values, dtype=torch.float64)
    weights = clip_to_mean_one(raw, torch.zeros(len(values), dtype=torch.long), low, high)
    assert float(weights.mean()) == pytest.approx(1.0, abs=1e-9)
    assert float(weights.min()) >= low and float(weights.max()) <= high


def test_standardise_uses_the_population_deviation() -> None:
    z = standardise(torch.tensor([1.0, 2.0, 3.0]))
    expected = torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64) / (2 / 3) ** 0.5
    torch.testing.assert_close(z, expected, rtol=1e-5, atol=0)
    assert float(standardise(torch.full((4,), 0.3)).abs().max()) == 0.0
