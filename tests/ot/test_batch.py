"""Many classes at once, sketched rounds, streamed states: other paths to the same numbers."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from hara_viz.ot import (
    RolloutClass,
    SolverConfig,
    anchored_solve,
    fgw_barycenter,
    solve_barycenters,
    states,
)
from hara_viz.ot.measures import build_measures, padded_length
from hara_viz.ot.sketch import SKETCH_DIMS, sketch_basis
from tests.ot.planted import clustered_rollouts, spearman


def wide(lengths: list[int], seed: int = 0) -> tuple[list[Tensor], list[Tensor]]:
    """States of a size at which rounds are sketched."""
    return clustered_rollouts(lengths, dim=256, stages=9, noise=0.05, seed=seed)


def some_classes(dim: int) -> list[RolloutClass]:
    lengths = [[30, 41, 37], [40, 39], [33, 47, 41, 20, 38], [90, 80, 96], [5, 3], [41, 44, 38]]
    built = [
        clustered_rollouts(each, dim=dim, stages=6, noise=0.1, seed=seed)
        for seed, each in enumerate(lengths)
    ]
    return [
        RolloutClass(h, line, leave_one_out=seed % 2 == 0) for seed, (h, line) in enumerate(built)
    ]


@pytest.mark.parametrize("dim", [16, 400])
@pytest.mark.parametrize("refine", [0, 2])
def test_a_class_gets_the_same_numbers_alone_and_beside_others(dim: int, refine: int) -> None:
    classes, config = some_classes(dim), SolverConfig(refine=refine)
    together = solve_barycenters(classes, config)
    backwards = solve_barycenters(classes[::-1], config)[::-1]
    for rollouts, one, other in zip(classes, together, backwards, strict=True):
        alone = solve_barycenters([rollouts], config)[0]
        for solution in (one, other):
            assert solution.changes == alone.changes
            assert torch.equal(solution.features, alone.features)
            assert torch.equal(solution.structure, alone.structure)
            assert all(map(torch.equal, solution.costs, alone.costs))
            assert all(map(torch.equal, solution.plans, alone.plans))
        if one.leave_one_out and alone.leave_one_out:
            assert all(map(torch.equal, one.leave_one_out.costs, alone.leave_one_out.costs))
        assert (one.leave_one_out is None) == (not rollouts.leave_one_out)


def test_a_class_of_equal_points_rests_beside_others() -> None:
    flat = RolloutClass([torch.ones(6, 4), torch.ones(6, 4)], [torch.zeros(6)] * 2)
    other = RolloutClass(*clustered_rollouts([6, 6], dim=4))
    resting, moving = solve_barycenters([flat, other], SolverConfig())
    assert resting.iterations == 0 and resting.converged
    assert moving.iterations > 0


def test_no_class_is_no_work() -> None:
    assert solve_barycenters([], SolverConfig()) == []


def test_sketched_rounds_end_where_full_ones_end(monkeypatch: pytest.MonkeyPatch) -> None:
    features, locations = wide([60, 71, 66, 58])
    sketched = fgw_barycenter(features, locations, n_support=9)
    monkeypatch.setattr(anchored_solve, "sketch_basis", lambda means: None)
    full = fgw_barycenter(features, locations, n_support=9)
    assert full.sketch is None and sketched.sketch is not None
    assert sketched.sketch.dimension == SKETCH_DIMS[0] and 0.9 < sketched.sketch.captured <= 1.0
    assert sketched.sketch.rounds < sketched.iterations
    assert sketched.sketch.error == sketched.changes[sketched.sketch.rounds]
    assert sketched.converged and sketched.changes[-1] < 1e-2
    ours, theirs = torch.cat(sketched.costs), torch.cat(full.costs)
    assert float(ours.mean()) == pytest.approx(float(theirs.mean()), rel=2e-2)
    assert spearman(ours, theirs) > 0.95


def test_a_sketch_that_misses_too_much_is_not_used() -> None:
    generator = torch.Generator().manual_seed(0)
    assert sketch_basis(torch.randn(400, 300, generator=generator)) is None
    assert sketch_basis(torch.randn(400, 64, generator=generator)) is None  # it would not pay


def test_a_sketch_holds_what_lies_in_few_directions() -> None:
    generator = torch.Generator().manual_seed(0)
    means = torch.randn(200, 20, generator=generator) @ torch.randn(20, 300, generator=generator)
    basis = sketch_basis(means)
    assert basis is not None and basis.captured == pytest.approx(1.0, abs=1e-5)
    back = means @ basis.directions @ basis.directions.T
    torch.testing.assert_close(back, means, atol=1e-3, rtol=1e-3)


def test_streamed_states_equal_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    features, locations = clustered_rollouts([300, 700, 511])
    half = [h.bfloat16() for h in features]
    block = build_measures(half, locations).states
    monkeypatch.setattr(states, "_COPY_BYTES", 0)
    monkeypatch.setattr(states, "_CHUNK_BYTES", 1)
    streamed = build_measures(half, locations).states
    assert isinstance(streamed, states.StreamedStates)
    support, plans = torch.randn(3, 7, 16), torch.rand(3, padded_length(700), 7)
    torch.testing.assert_close(streamed.products(support), block.products(support))
    torch.testing.assert_close(streamed.sums(plans), block.sums(plans), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(streamed.squared_norms(), block.squared_norms())
    torch.testing.assert_close(streamed.padded(), block.padded())


@pytest.mark.parametrize("longest", [1, 7, 8, 9, 64, 100, 129, 255, 1024, 5000])
def test_padding_is_at_most_an_eighth(longest: int) -> None:
    padded = padded_length(longest)
    assert longest <= padded <= max(longest * 1.125 + 1, longest + 7)
    assert padded_length(padded) == padded
