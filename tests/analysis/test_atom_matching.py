"""Barycenters matched with each other: planted permutations, POT as the oracle, marginals."""

from __future__ import annotations

import numpy as np
import pytest

from hara_viz.analysis.atom_matching import match_atoms
from hara_viz.errors import ShapeError


def test_a_planted_permutation_is_found() -> None:
    rng = np.random.default_rng(0)
    centres, places = rng.normal(size=(7, 5)), np.linspace(0, 1, 7)
    order = rng.permutation(7)
    found = match_atoms(centres, places, centres[order] + 1e-3, places[order], alpha=0.3)
    assert [(link.first, int(order[link.second])) for link in found.links] == [
        (k, k) for k in range(7)
    ]
    assert all(link.share == pytest.approx(1) for link in found.links)
    assert found.cost < 1e-4


def test_location_alone_decides_at_alpha_1_and_states_alone_at_0() -> None:
    centres, places = np.array([[0.0], [10.0]]), np.array([0.0, 1.0])
    others, other_places = np.array([[10.0], [0.0]]), np.array([0.0, 1.0])
    by_place = match_atoms(centres, places, others, other_places, alpha=1.0)
    by_state = match_atoms(centres, places, others, other_places, alpha=0.0)
    assert [(a.first, a.second, a.gap) for a in by_place.links] == [(0, 0, 10.0), (1, 1, 10.0)]
    assert [(a.first, a.second, a.gap) for a in by_state.links] == [(0, 1, 0.0), (1, 0, 0.0)]


@pytest.mark.parametrize(("n_first", "n_second"), [(5, 5), (8, 5), (5, 8), (1, 4), (64, 48)])
def test_the_plan_is_optimal_and_keeps_its_marginals(n_first: int, n_second: int) -> None:
    import ot

    rng = np.random.default_rng(n_first)
    centres, others = rng.normal(size=(n_first, 6)), rng.normal(size=(n_second, 6))
    places, other_places = np.sort(rng.random(n_first)), np.sort(rng.random(n_second))
    found = match_atoms(centres, places, others, other_places, alpha=0.4)
    np.testing.assert_allclose(found.plan.sum(1), 1 / n_first, atol=1e-9)
    np.testing.assert_allclose(found.plan.sum(0), 1 / n_second, atol=1e-9)
    cost = 0.6 * ((centres[:, None] - others[None]) ** 2).sum(-1)
    cost += 0.4 * (places[:, None] - other_places[None]) ** 2
    assert found.cost == pytest.approx(ot.emd2([], [], cost), rel=1e-8)
    assert len(found.links) <= n_first + n_second - 1
    shares = np.zeros(n_first)
    for link in found.links:
        shares[link.first] += link.share
    np.testing.assert_allclose(shares, 1, atol=0.05)
    gap = found.gap_of_first(0)
    assert min(a.gap for a in found.links) <= gap <= max(a.gap for a in found.links)


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="locations"):
        match_atoms(np.zeros((2, 3)), np.zeros(3), np.zeros((2, 3)), np.zeros(2), 0.5)
