from __future__ import annotations

import torch

from hara_viz.ot.coupling import monotone_coupling
from hara_viz.ot.measures import build_measures
from hara_viz.ot.structure import LocationStructure, StateStructure
from tests.ot.planted import clustered_rollouts


def test_location_products_equal_the_dense_ones() -> None:
    features, locations = clustered_rollouts([7, 12])
    measures = build_measures(features, locations)
    structure = LocationStructure(measures)
    plans = torch.rand(*measures.mass.shape, 5) * measures.mass[..., None]
    products, squares = structure.times(plans), structure.mean_square()
    for r, length in enumerate(measures.lengths):
        dense = structure.dense(r)
        torch.testing.assert_close(products[r, :length], dense @ plans[r, :length])
        expected = dense.square() @ measures.mass[r, :length]
        torch.testing.assert_close(squares[r, :length], expected)


def test_state_structure_is_the_distance_of_states() -> None:
    features, locations = clustered_rollouts([6, 9])
    structure = StateStructure(build_measures(features, locations))
    torch.testing.assert_close(
        structure.dense(0), torch.cdist(features[0], features[0]), atol=1e-3, rtol=1e-3
    )


def test_monotone_coupling_has_both_marginals() -> None:
    features, locations = clustered_rollouts([3, 10, 17])
    measures = build_measures(features, locations)
    for n_support in (1, 4, 10, 25):
        plans = monotone_coupling(measures, n_support)
        torch.testing.assert_close(plans.sum(-1), measures.mass, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(plans.sum(1), torch.full((3, n_support), 1 / n_support))


def test_atoms_in_any_order_come_back_in_the_callers_order() -> None:
    features, locations = clustered_rollouts([8])
    order = torch.tensor([3, 0, 7, 1, 2, 6, 5, 4])
    measures = build_measures([features[0][order]], [locations[0][order]])
    torch.testing.assert_close(measures.unpad(measures.locations)[0], locations[0][order])
    shuffled = measures.unpad(measures.features + measures.center)[0]
    torch.testing.assert_close(shuffled, features[0][order])
