"""States kept small: one space for all parts, and an error that is measured."""

from __future__ import annotations

import pytest
import torch

from hara_viz.backend.projected_states import check_size, project_layer
from hara_viz.errors import InvalidInputError
from hara_viz.types import HiddenStates


def layer(states: torch.Tensor) -> HiddenStates:
    n = len(states)
    return HiddenStates(
        states=states, offsets=torch.tensor([0, n // 2, n]), layer=3, after_norm=True
    )


FULL = layer(torch.randn(400, 256, generator=torch.Generator().manual_seed(1)))


@pytest.mark.parametrize("size", [16, 64])
def test_the_error_is_what_theory_says(size: int) -> None:
    small = project_layer(FULL, size)
    assert small.states.shape == (400, size)
    assert small.projection is not None and small.projection.error is not None
    assert small.projection.error == pytest.approx((2 * size) ** -0.5, rel=0.2)
    assert small.projection.source_size == 256
    assert (small.layer, small.after_norm) == (3, True)
    assert torch.equal(small.offsets, FULL.offsets)


def test_parts_share_a_space() -> None:
    whole, part = project_layer(FULL, 8), project_layer(layer(FULL.states[:7].bfloat16()), 8)
    assert part.states.dtype == torch.float32
    assert torch.allclose(part.states, whole.states[:7], atol=0.05)


def test_what_makes_nothing_smaller_is_refused() -> None:
    for size in (0, 256, 999):
        with pytest.raises(InvalidInputError, match=f"size {size}"):
            check_size(size, 256)
    with pytest.raises(InvalidInputError, match="projected already"):
        project_layer(project_layer(FULL, 8), 4)
