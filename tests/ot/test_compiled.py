"""The compiled descent against the batched one, problem by problem."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import hara_viz.ot.sinkhorn as sinkhorn_room
from hara_viz.ot import compiled, fgw_barycenter
from hara_viz.ot.batched import descend_batched
from hara_viz.ot.compiled import descend_compiled, suits_compiled
from tests.ot.planted import clustered_rollouts

LIMITS = (3, 60)


def problems(
    n_rollouts: int, length: int, columns: int, *, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor, Tensor]:
    """Costs −M/ε of entropic problems, p (later ones are shorter), q (two columns padded)."""
    generator = torch.Generator().manual_seed(columns)
    cost = torch.rand(n_rollouts, length, columns, generator=generator, dtype=dtype)
    scaled = cost / -0.03
    mass = torch.zeros(n_rollouts, length, dtype=dtype)
    for r in range(n_rollouts):
        own = length - r
        mass[r, :own] = 1 / own
    weights = torch.zeros(n_rollouts, columns, dtype=dtype)
    weights[:, :-2] = 1 / (columns - 2)
    scaled[..., -2:] = -torch.inf
    return scaled, mass, weights


@pytest.mark.parametrize("length", [40, 256, 300])
@pytest.mark.parametrize("columns", [5, 8, 34])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_descents_take_the_same_way(length: int, columns: int, dtype: torch.dtype) -> None:
    scaled, mass, weights = problems(3, length, columns, dtype=dtype)
    tolerance = torch.tensor([1e-2, 1e-3, 1e-4], dtype=dtype)
    start = torch.linspace(-1, 1, columns, dtype=dtype).expand(3, -1)
    batched = descend_batched(scaled, start, mass, weights, tolerance, *LIMITS)
    found = descend_compiled(scaled, start, mass, weights, tolerance, *LIMITS)
    one, other = batched.plans, found.plans
    if dtype == torch.float64:  # in float32 rounding may decide on a last step
        assert (found.sweeps, found.steps) == (batched.sweeps, batched.steps)
    assert not len(found.starved) and not len(found.far) and bool((found.errors < tolerance).all())
    accuracy = 2e-4 if dtype == torch.float32 else 1e-10
    torch.testing.assert_close(other * length, one * length, atol=accuracy, rtol=0)
    torch.testing.assert_close(found.potentials, batched.potentials, atol=20 * accuracy, rtol=0)
    torch.testing.assert_close(found.errors, batched.errors, atol=accuracy, rtol=0)
    torch.testing.assert_close(other.sum(-1), mass)
    arrived = (other.sum(1) - weights).abs().sum(-1)
    torch.testing.assert_close(arrived, found.errors, atol=accuracy, rtol=0)


def test_unequal_masses_are_weighed_as_they_are() -> None:
    """Eight atoms of one mass share a logarithm; those of their own masses must not."""
    scaled, _, weights = problems(2, 50, 8)
    mass = torch.rand(2, 50, generator=torch.Generator().manual_seed(0))
    mass /= mass.sum(-1, keepdim=True)
    start, tolerance = torch.zeros(2, 8), torch.full((2,), 1e-4)
    batched = descend_batched(scaled, start, mass, weights, tolerance, *LIMITS)
    found = descend_compiled(scaled, start, mass, weights, tolerance, *LIMITS)
    assert abs(found.steps - batched.steps) <= 1
    torch.testing.assert_close(found.plans, batched.plans, atol=1e-5, rtol=0)


def test_a_column_that_starves_is_said_and_nothing_is_moved() -> None:
    scaled, mass, weights = problems(2, 20, 6)
    scaled[1, :, 3] -= 100.0
    start, tolerance = torch.zeros(2, 6), torch.full((2,), 1e-3)
    for descend in (descend_batched, descend_compiled):
        found = descend(scaled, start, mass, weights, tolerance, *LIMITS)
        assert found.starved.tolist() == [1]
        assert found.potentials[1].abs().max() == 0 and found.potentials[0].abs().max() > 0
        torch.testing.assert_close(found.plans.sum(-1), mass)


def test_threads_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_LEAST_SHARED", 1)
    scaled, mass, weights = problems(5, 300, 16)
    start = torch.zeros(5, 16)
    before, found = torch.get_num_threads(), []
    try:
        for n_threads in (1, 2, 3):
            torch.set_num_threads(n_threads)
            tolerance = torch.full((5,), 1e-3)
            done = descend_compiled(scaled, start, mass, weights, tolerance, *LIMITS)
            found.append(done.plans)
            assert done.plans.data_ptr() % 64 == 0, "or products with it round otherwise"
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])


def test_many_columns_go_the_batched_way() -> None:
    assert suits_compiled(torch.ones(1, 2, 64)) and not suits_compiled(torch.ones(1, 2, 512))


def test_the_kernel_is_exact_to_single_precision() -> None:
    """Without sweeps or steps the plan is the row-normalised kernel, whatever exp was used."""
    scaled = torch.linspace(-69.9, 0, 8 * 300).view(1, 8, 300).mT.contiguous()
    mass, weights = torch.full((1, 300), 1 / 300), torch.full((1, 8), 1 / 8)
    start, loose = torch.zeros(1, 8), torch.full((1,), 9.0)
    found = descend_compiled(scaled, start, mass, weights, loose, 1, 0)
    expected = scaled.double().softmax(-1) / 300
    torch.testing.assert_close(found.plans.double(), expected, rtol=2e-5, atol=0)


@pytest.mark.parametrize("refine", [0, 2])
def test_barycenters_agree_by_either_descent(refine: int, monkeypatch: pytest.MonkeyPatch) -> None:
    features, locations = clustered_rollouts([60, 45, 52], dim=256, stages=9, noise=0.05, seed=2)
    one = fgw_barycenter(features, locations, n_support=12, refine=refine)
    monkeypatch.setattr(sinkhorn_room, "suits_compiled", lambda scaled: False)
    other = fgw_barycenter(features, locations, n_support=12, refine=refine)
    assert one.converged and one.iterations == other.iterations
    for a, b in zip(one.costs, other.costs, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(one.features, other.features, atol=1e-4, rtol=1e-3)
