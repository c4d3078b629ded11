from __future__ import annotations

import importlib

import numpy as np
import pytest

from hara_viz.analysis.gromov import gromov_distance
from hara_viz.errors import ShapeError


def structure(points: np.ndarray) -> np.ndarray:
    return np.linalg.norm(points[:, None] - points[None], axis=-1)


def cloud(seed: int, size: int = 10) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(size, 3))


def test_two_points_have_a_closed_form() -> None:
    near, far = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0.0, 3.0], [3.0, 0.0]])
    # Half of the pairs are off the diagonal: (3 − 1)² / 2.
    assert gromov_distance(near, far).distance == pytest.approx(np.sqrt(2.0))


def test_a_rotation_and_a_new_order_of_points_change_nothing() -> None:
    points = cloud(0)
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    assert gromov_distance(structure(points), structure(points @ rotation)).distance < 1e-6
    order = np.random.default_rng(2).permutation(10)[:4]
    shuffled = points.copy()
    shuffled[np.sort(order)] = points[order]
    assert gromov_distance(structure(points), structure(shuffled)).distance < 0.35


@pytest.mark.parametrize("seed", range(6))
def test_it_is_as_good_as_pots_solver_from_the_same_start(seed: int) -> None:
    gromov = importlib.import_module("ot.gromov")
    a, b = structure(cloud(seed)), structure(cloud(seed + 50))
    uniform = np.full(10, 0.1)
    losses = [
        gromov.gromov_wasserstein2(a, b, uniform, uniform, G0=start, tol_rel=1e-12, tol_abs=1e-12)
        for start in (np.eye(10) / 10, np.outer(uniform, uniform))
    ]
    found = gromov_distance(a, b)
    assert found.distance == pytest.approx(np.sqrt(min(losses)), rel=0.02)
    assert found.coupling.sum(0) == pytest.approx(uniform)
    assert found.coupling.sum(1) == pytest.approx(uniform)


def test_its_value_is_the_loss_of_its_coupling() -> None:
    a, b = structure(cloud(3)), structure(cloud(4))
    found = gromov_distance(a, b)
    gaps = (a[:, None, :, None] - b[None, :, None, :]) ** 2
    loss = np.einsum("ijkl,ij,kl->", gaps, found.coupling, found.coupling)
    assert found.distance == pytest.approx(np.sqrt(loss))
    assert gromov_distance(b, a).distance == pytest.approx(found.distance, rel=0.02)


def test_shapes_are_checked() -> None:
    with pytest.raises(ShapeError):
        gromov_distance(np.zeros((3, 3)), np.zeros((4, 4)))
