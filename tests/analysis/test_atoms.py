"""Atoms as text: planted tokens are found, figures follow from the plans."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from hara_viz.analysis.atoms import atom_centres, describe_atoms, nearest_atoms
from hara_viz.errors import ShapeError
from hara_viz.ot import fgw_barycenter


def planted(n_rollouts: int = 3, n_atoms: int = 4, per: int = 3) -> tuple[list, list, list]:
    """Rollouts that pass through the same places in the same order, `per` tokens each.

    Of the tokens at a place the one in the middle lies exactly on it, the others beside it.
    """
    rng = np.random.default_rng(0)
    places = 10.0 * np.eye(n_atoms, 8)
    length = n_atoms * per
    plans, locations, states = [], [], []
    for _ in range(n_rollouts):
        plan = np.zeros((length, n_atoms))
        plan[np.arange(length), np.arange(length) // per] = 1.0 / length
        rows = np.repeat(places, per, axis=0)
        side = rng.normal(size=(n_atoms, 8))
        rows[0::per] += side
        rows[2::per] -= side
        plans.append(plan)
        locations.append(np.arange(length) / (length - 1))
        states.append(rows)
    return plans, locations, states


def test_the_token_on_the_atom_is_its_mention_in_every_rollout() -> None:
    plans, locations, states = planted()
    atoms = describe_atoms(plans, locations, states)
    assert [atom.index for atom in atoms] == [0, 1, 2, 3]
    for atom in atoms:
        assert sorted(m.row for m in atom.mentions) == [0, 1, 2]
        assert {m.token for m in atom.mentions} == {3 * atom.index + 1}
        assert all(m.distance == pytest.approx(0.0, abs=1e-9) for m in atom.mentions)
        assert all(m.share == pytest.approx(1.0) for m in atom.mentions)


def test_figures_of_an_atom_in_closed_form() -> None:
    plans, locations, states = planted(n_rollouts=2)
    second = describe_atoms(plans, locations, states)[1]
    own = locations[0][3:6]
    assert second.mass == pytest.approx(1 / 4)
    assert second.location == pytest.approx(own.mean())
    assert second.spread == pytest.approx(own.std())
    assert second.coverage == 1.0


def test_a_rollout_that_skips_an_atom_lowers_its_coverage() -> None:
    plans, locations, states = planted(n_rollouts=4)
    plans[0][:, 3] = 0.0
    plans[0] /= plans[0].sum()
    last = describe_atoms(plans, locations, states)[3]
    assert last.coverage == pytest.approx(3 / 4)
    assert sorted(m.row for m in last.mentions) == [1, 2, 3]


def test_reading_order_follows_locations_not_columns() -> None:
    plans, locations, states = planted()
    turned = [plan[:, ::-1] for plan in plans]
    atoms = describe_atoms(turned, locations, states)
    assert [atom.index for atom in atoms] == [3, 2, 1, 0]
    assert [atom.location for atom in atoms] == sorted(atom.location for atom in atoms)


def test_without_states_the_token_that_gives_most_stands_for_it() -> None:
    plan = np.array([[0.1, 0.1], [0.2, 0.1], [0.05, 0.45]])
    (first, second) = describe_atoms([plan], [np.array([0.0, 0.5, 1.0])])
    assert (first.mentions[0].token, second.mentions[0].token) == (1, 2)
    assert np.isnan(first.mentions[0].distance)
    assert first.mentions[0].share == pytest.approx(2 / 3)


def test_centres_and_locations_are_those_of_the_solver() -> None:
    generator = torch.Generator().manual_seed(0)
    features = [torch.randn(t, 6, generator=generator) for t in (20, 26, 31)]
    lines = [torch.arange(len(f)) / (len(f) - 1) for f in features]
    solution = fgw_barycenter(features, lines, n_support=6, tolerance=1e-4, max_iterations=400)
    plans = [plan.double().numpy() for plan in solution.plans]
    states = [f.double().numpy() for f in features]
    np.testing.assert_allclose(
        atom_centres(plans, states), solution.features.numpy(), rtol=1e-2, atol=1e-2
    )
    atoms = describe_atoms(plans, [line.double().numpy() for line in lines], states)
    found = {atom.index: atom.location for atom in atoms}
    for k, location in enumerate(solution.locations.tolist()):
        assert found[k] == pytest.approx(location, abs=1e-2)


def test_nearest_atoms_pairs_planted_neighbours() -> None:
    centres = np.array([[0.0, 0.0], [5.0, 0.0]])
    others = np.array([[5.0, 3.0], [0.0, 1.0], [9.0, 9.0]])
    assert [(m.atom, m.distance) for m in nearest_atoms(centres, others)] == [(1, 1.0), (0, 3.0)]


def test_parts_that_do_not_fit_are_refused() -> None:
    plans, locations, states = planted()
    with pytest.raises(ShapeError, match="locations have lengths"):
        describe_atoms(plans, [line[:-1] for line in locations], states)
    with pytest.raises(ShapeError, match="states have lengths"):
        describe_atoms(plans, locations, [state[1:] for state in states])
    with pytest.raises(ShapeError, match="same number of columns"):
        describe_atoms([plans[0], plans[1][:, :2], plans[2]], locations, states)
    assert describe_atoms([], []) == ()
