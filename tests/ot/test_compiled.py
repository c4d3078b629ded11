"""The compiled descent against the batched one, kernel by kernel."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from hara_viz.ot import compiled
from hara_viz.ot.batched import descend_batched
from hara_viz.ot.compiled import descend_compiled, suits_compiled

LIMITS = (3, 60)


def kernels(
    n_rollouts: int, length: int, columns: int, *, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor, Tensor]:
    """Kernels of entropic problems, p (later ones are shorter), q (two columns padded)."""
    generator = torch.Generator().manual_seed(columns)
    cost = torch.rand(n_rollouts, length, columns, generator=generator, dtype=dtype)
    kernel = (-(cost - cost.amin(-1, keepdim=True)) / 0.03).exp()
    mass = torch.zeros(n_rollouts, length, dtype=dtype)
    for r in range(n_rollouts):
        own = length - r
        mass[r, :own] = 1 / own
    weights = torch.zeros(n_rollouts, columns, dtype=dtype)
    weights[:, :-2] = 1 / (columns - 2)
    kernel[..., -2:] = torch.e**-70
    return kernel, mass, weights


@pytest.mark.parametrize("length", [40, 256, 300])
@pytest.mark.parametrize("columns", [5, 8, 34])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_descents_take_the_same_way(length: int, columns: int, dtype: torch.dtype) -> None:
    kernel, mass, weights = kernels(3, length, columns, dtype=dtype)
    tolerance = torch.tensor([1e-2, 1e-3, 1e-4], dtype=dtype)
    one, other = kernel.clone(), kernel.clone()
    batched = descend_batched(one, mass, weights, tolerance, *LIMITS)
    found = descend_compiled(other, mass, weights, tolerance, *LIMITS)
    assert (found.sweeps, found.steps) == (batched.sweeps, batched.steps)
    assert not found.starved.any() and bool((found.errors < tolerance).all())
    accuracy = 2e-4 if dtype == torch.float32 else 1e-10
    torch.testing.assert_close(other * length, one * length, atol=accuracy, rtol=0)
    torch.testing.assert_close(found.log_v, batched.log_v, atol=20 * accuracy, rtol=0)
    torch.testing.assert_close(found.errors, batched.errors, atol=accuracy, rtol=0)
    torch.testing.assert_close(other.sum(-1), mass)
    arrived = (other.sum(1) - weights).abs().sum(-1)
    torch.testing.assert_close(arrived, found.errors, atol=accuracy, rtol=0)


def test_unequal_masses_are_weighed_as_they_are() -> None:
    """Eight atoms of one mass share a logarithm; those of their own masses must not."""
    kernel, _, weights = kernels(2, 50, 8)
    mass = torch.rand(2, 50, generator=torch.Generator().manual_seed(0))
    mass /= mass.sum(-1, keepdim=True)
    one, other = kernel.clone(), kernel.clone()
    tolerance = torch.full((2,), 1e-4)
    batched = descend_batched(one, mass, weights, tolerance, *LIMITS)
    found = descend_compiled(other, mass, weights, tolerance, *LIMITS)
    assert found.steps == batched.steps
    torch.testing.assert_close(other, one, atol=1e-5, rtol=0)


def test_a_column_that_starves_is_said_and_nothing_is_moved() -> None:
    kernel, mass, weights = kernels(2, 20, 6)
    kernel[1, :, 3] = 1e-30
    for descend in (descend_batched, descend_compiled):
        plans = kernel.clone()
        found = descend(plans, mass, weights, torch.full((2,), 1e-3), *LIMITS)
        assert found.starved.tolist() == [False, True]
        assert found.log_v[1].abs().max() == 0 and found.log_v[0].abs().max() > 0
        torch.testing.assert_close(plans.sum(-1), mass)


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_LEAST_SHARED", 1)
    kernel, mass, weights = kernels(5, 300, 16)
    before, found = torch.get_num_threads(), []
    try:
        for n_threads in (1, 2, 3):
            torch.set_num_threads(n_threads)
            plans = kernel.clone()
            descend_compiled(plans, mass, weights, torch.full((5,), 1e-3), *LIMITS)
            found.append(plans)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


def test_many_columns_go_the_batched_way() -> None:
    assert suits_compiled(torch.ones(1, 2, 64)) and not suits_compiled(torch.ones(1, 2, 512))
