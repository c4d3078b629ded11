"""Most similar tokens: closed forms, and a loop that must agree."""

from __future__ import annotations

import pytest
import torch

from hara_viz.backend.neighbours import similar_tokens
from hara_viz.errors import InvalidInputError
from hara_viz.types import HiddenStates


def states_of(*rows: list[list[float]]) -> HiddenStates:
    lengths = torch.tensor([0, *(len(row) for row in rows)])
    flat = torch.tensor([state for row in rows for state in row]).reshape(-1, 2)
    return HiddenStates(states=flat.bfloat16(), offsets=lengths.cumsum(0), layer=1, after_norm=True)


def test_direction_counts_and_length_does_not() -> None:
    states = states_of([[1.0, 0.0], [0.0, 2.0]], [[0.0, 9.0], [5.0, 0.1]], [[-3.0, 0.0]])
    first, second = similar_tokens(states, 0, 0)
    assert (first.row, first.token) == (1, 1) and first.similarity == pytest.approx(
        0.9998, abs=1e-3
    )
    assert (second.row, second.token, second.similarity) == (2, 0, -1.0)
    assert similar_tokens(states, 0, 1, top=1) == ((1, 0, 1.0),)


def test_it_agrees_with_all_pairs() -> None:
    generator = torch.Generator().manual_seed(0)
    offsets = torch.tensor([0, 5, 5, 12, 20])
    states = HiddenStates(
        states=torch.randn(20, 8, generator=generator), offsets=offsets, layer=1, after_norm=True
    )
    cosine = torch.nn.functional.cosine_similarity(states.states[7], states.states, dim=-1)
    expected = {row: cosine[int(a) : int(b)] for row, (a, b) in {0: (0, 5), 3: (12, 20)}.items()}
    found = {match.row: match for match in similar_tokens(states, 2, 2)}
    assert set(found) == {0, 3}, "an empty rollout has no token"
    for row, values in expected.items():
        assert found[row].token == int(values.argmax())
        assert found[row].similarity == pytest.approx(float(values.max()), abs=1e-6)


def test_a_zero_state_is_like_nothing() -> None:
    states = states_of([[0.0, 0.0]], [[1.0, 1.0]])
    assert similar_tokens(states, 0, 0) == ((1, 0, 0.0),)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_state_that_overflowed_is_like_none_and_hides_none(bad: float) -> None:
    states = states_of([[1.0, 0.0], [bad, 0.0]], [[bad, 1.0], [0.0, 3.0]], [[bad, bad]])
    assert similar_tokens(states, 0, 0) == ((1, 1, 0.0),)
    assert similar_tokens(states, 0, 1) == ()


def test_a_token_that_is_not_there() -> None:
    with pytest.raises(InvalidInputError, match="rollout 1 has 1 tokens"):
        similar_tokens(states_of([[1.0, 0.0]], [[1.0, 1.0]]), 1, 1)
