"""Plans composed: closed forms, marginals, and the brute-force coupling as the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from hara_viz.analysis.atom_matching import match_atoms
from hara_viz.analysis.composition import compose, counterpart_gaps
from hara_viz.errors import ShapeError


def plan(n_tokens: int, n_atoms: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mass = rng.random((n_tokens, n_atoms)) ** 4
    return mass / mass.sum(1, keepdims=True) / n_tokens


def test_permutations_compose_to_a_permutation() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.permutation(6), rng.permutation(6)
    pair = compose(np.eye(6)[a] / 6, np.eye(6)[b] / 6)
    for token in range(6):
        there = pair.from_first(token)
        assert there.argmax() == np.flatnonzero(b == a[token])[0]
        assert there.max() == pytest.approx(1)
        assert pair.from_second(int(there.argmax())).argmax() == token


def test_rows_are_those_of_the_composed_coupling() -> None:
    first, second = plan(9, 4, 0), plan(7, 4, 1)
    pair = compose(first, second)
    coupling = first @ np.diag(1 / second.sum(0)) @ second.T
    for token in range(9):
        row = pair.from_first(token)
        np.testing.assert_allclose(row, coupling[token] / coupling[token].sum())
        assert row.sum() == pytest.approx(1)
    assert sum(pair.from_second(3)) == pytest.approx(1)


def test_gaps_are_the_expected_distances() -> None:
    rng = np.random.default_rng(3)
    states, others = rng.normal(size=(9, 5)) + 100, rng.normal(size=(7, 5)) + 100
    pair = compose(plan(9, 4, 0), plan(7, 4, 1))
    mine, yours = counterpart_gaps(pair, states, others)
    squares = ((states[:, None] - others[None]) ** 2).sum(-1)
    expected = [np.sqrt(pair.from_first(i) @ squares[i]) for i in range(9)]
    np.testing.assert_allclose(mine, expected, rtol=1e-9)
    expected = [np.sqrt(pair.from_second(j) @ squares[:, j]) for j in range(7)]
    np.testing.assert_allclose(yours, expected, rtol=1e-9)


def test_a_rollout_against_itself_is_nearest_to_itself() -> None:
    rng = np.random.default_rng(5)
    states = rng.normal(size=(6, 4))
    own = np.eye(6) / 6
    mine, yours = counterpart_gaps(compose(own, own), states, states)
    np.testing.assert_allclose(mine, 0, atol=1e-6)
    np.testing.assert_allclose(yours, 0, atol=1e-6)


def test_a_matching_leads_from_one_support_to_the_other() -> None:
    centres, places = np.array([[0.0], [5.0], [9.0]]), np.array([0.0, 0.5, 1.0])
    turn = [2, 0, 1]
    matching = match_atoms(centres, places, centres[turn], places[turn], 0.5).plan
    pair = compose(np.eye(3) / 3, np.eye(3) / 3, matching)
    assert [int(pair.from_first(t).argmax()) for t in range(3)] == [turn.index(t) for t in range(3)]


def test_supports_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match="no support in common"):
        compose(plan(4, 3, 0), plan(4, 5, 1))
