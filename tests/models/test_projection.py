"""The projection keeps distances as well as it says."""

from __future__ import annotations

import pytest
import torch

from hara_viz.errors import InvalidInputError
from hara_viz.models.projection import distance_error, project_states, projection_matrix


def states(n: int, width: int) -> torch.Tensor:
    return torch.randn(n, width, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("dim", [32, 128, 512])
def test_distances_are_kept_to_the_expected_error(dim: int) -> None:
    original = states(500, 768)
    error = distance_error(original, project_states(original, projection_matrix(768, dim)))
    # The norm of a chi with d degrees of freedom deviates by 1 / sqrt(2 d).
    assert error == pytest.approx((2 * dim) ** -0.5, rel=0.2)


def test_one_seed_one_matrix_and_the_dtype_stays() -> None:
    assert torch.equal(projection_matrix(64, 8, seed=3), projection_matrix(64, 8, seed=3))
    assert not torch.equal(projection_matrix(64, 8, seed=3), projection_matrix(64, 8, seed=4))
    half = project_states(states(20_000, 64).bfloat16(), projection_matrix(64, 8))
    assert half.dtype == torch.bfloat16 and half.shape == (20_000, 8)
    exact = states(20_000, 64).bfloat16().float() @ projection_matrix(64, 8)
    torch.testing.assert_close(half, exact.bfloat16())


def test_an_orthogonal_map_has_no_error_and_equal_rows_none() -> None:
    original = states(50, 16)
    rotation = torch.linalg.qr(states(16, 16)).Q
    assert distance_error(original, project_states(original, rotation)) < 1e-6
    same = torch.ones(5, 16)
    assert distance_error(same, project_states(same, projection_matrix(16, 4))) == 0.0
    assert distance_error(original[:1], original[:1]) == 0.0


@pytest.mark.parametrize("dim", [0, 17])
def test_impossible_sizes_are_refused(dim: int) -> None:
    with pytest.raises(InvalidInputError, match="choose 1 to 16"):
        projection_matrix(16, dim)
