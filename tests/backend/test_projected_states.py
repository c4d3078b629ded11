"""Random projection of states: repeatable, as true as it says."""

from __future__ import annotations

import pytest
import torch

from hara_viz.backend.projected_states import distance_error, project_states, projection_matrix
from hara_viz.errors import InvalidInputError
from hara_viz.types import HiddenStates


def states(n: int = 400, width: int = 256) -> HiddenStates:
    generator = torch.Generator().manual_seed(1)
    return HiddenStates(
        states=torch.randn(n, width, generator=generator),
        offsets=torch.tensor([0, n // 2, n]),
        layer=3,
        after_norm=True,
    )


@pytest.mark.parametrize("size", [16, 64])
def test_distances_are_kept_as_well_as_theory_says(size: int) -> None:
    small = project_states(states(), size)
    assert small.states.shape == (400, size)
    assert small.projection is not None and small.projection.error is not None
    assert small.projection.error == pytest.approx((2 * size) ** -0.5, rel=0.2)
    assert small.projection.source_size == 256
    assert (small.layer, small.after_norm) == (3, True)


def test_the_matrix_is_the_same_for_all_parts_and_another_for_another_seed() -> None:
    first = project_states(states(), 8).states
    part = HiddenStates(
        states=states().states[:7], offsets=torch.tensor([0, 7]), layer=3, after_norm=True
    )
    assert torch.allclose(project_states(part, 8).states, first[:7], atol=1e-5)
    assert not torch.equal(projection_matrix(9, 4, 0), projection_matrix(9, 4, 1))


def test_half_precision_is_projected_in_full() -> None:
    full = states()
    half = HiddenStates(
        states=full.states.bfloat16(), offsets=full.offsets, layer=3, after_norm=True
    )
    assert project_states(half, 8).states.dtype == torch.float32


def test_an_error_is_measured_only_where_there_is_one_to_measure() -> None:
    same = torch.ones(5, 4)
    assert distance_error(same, same[:, :2], 0) is None
    assert distance_error(same[:1], same[:1, :2], 0) is None
    assert distance_error(torch.eye(4), torch.eye(4), 0) == 0.0


def test_sizes_that_make_nothing_smaller_are_refused() -> None:
    for size in (0, 256, 999):
        with pytest.raises(InvalidInputError, match=f"size {size}"):
            project_states(states(), size)
    with pytest.raises(InvalidInputError, match="projected already"):
        project_states(project_states(states(), 8), 4)
