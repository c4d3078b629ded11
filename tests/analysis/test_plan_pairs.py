"""Pairs of tokens and atoms: they add up, and the brute force finds no larger one."""

from __future__ import annotations

import numpy as np
import pytest

from hara_viz.analysis.plan_pairs import top_pairs


def setup(n_tokens: int = 400, n_atoms: int = 6, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    plan = rng.random((n_tokens, n_atoms)) ** 6
    plan /= plan.sum(1, keepdims=True) * n_tokens
    return {
        "plan": plan,
        "states": rng.normal(size=(n_tokens, 5)),
        "centres": rng.normal(size=(n_atoms, 5)),
        "places": np.linspace(0, 1, n_tokens),
        "support_structure": rng.random((n_atoms, n_atoms)),
        "feature": rng.random(n_tokens),
        "structure": 0.2 * rng.random(n_tokens),
    }


def test_all_pairs_of_a_token_add_up_to_its_cost() -> None:
    parts = setup(n_tokens=12)
    pairs = top_pairs(**parts, top=12 * 6)
    for token in range(12):
        own = [pair for pair in pairs if pair.token == token]
        assert sum(p.feature for p in own) == pytest.approx(parts["feature"][token], rel=1e-3)
        assert sum(p.structure for p in own) == pytest.approx(parts["structure"][token], rel=1e-3)
        assert sum(p.share for p in own) == pytest.approx(1, abs=1e-3)


def test_no_pair_left_out_costs_more() -> None:
    parts = setup()
    every = top_pairs(**parts, top=400 * 6)
    assert top_pairs(**parts, top=9) == every[:9]
    assert [p.cost for p in every] == sorted((p.cost for p in every), reverse=True)


def test_a_token_far_from_its_atom_pays_for_it() -> None:
    plan = np.array([[0.25, 0.25], [0.5, 0.0]])
    states, centres = np.array([[0.0], [0.0]]), np.array([[0.0], [2.0]])
    pairs = top_pairs(
        plan, states, centres, np.array([0.0, 1.0]), np.zeros((2, 2)),
        np.array([1.0, 0.5]), np.zeros(2),
    )  # fmt: skip
    assert (pairs[0].token, pairs[0].atom, pairs[0].feature) == (0, 1, 1.0)
    # No distance at all, but a cost: it goes with the mass.
    assert (pairs[1].token, pairs[1].atom, pairs[1].feature) == (1, 0, 0.5)
