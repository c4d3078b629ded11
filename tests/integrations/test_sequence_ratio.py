"""GSPO and GSPO-token: equal values, and what each passes on to a token's gradient."""

from __future__ import annotations

import torch

from hara_viz.integrations.sequence_ratio import old_logprobs_of_sequence

MASK = torch.tensor([[1.0, 1, 1, 1, 0], [1, 1, 0, 0, 0]])
OLD = torch.tensor([[-1.0, -2, -0.5, -0.1, 0], [-0.3, -3, 0, 0, 0]])


def new_logprobs() -> torch.Tensor:
    moved = torch.tensor([[0.1, -0.2, 0.05, 0.3, 9], [-0.4, 0.2, 9, 9, 9]])
    return (OLD + moved).requires_grad_()


def sequence_ratio(logprobs: torch.Tensor) -> torch.Tensor:
    """s [B, 1] as GSPO defines it."""
    return (((logprobs - OLD) * MASK).sum(-1, keepdim=True) / MASK.sum(-1, keepdim=True)).exp()


def token_ratio(logprobs: torch.Tensor) -> torch.Tensor:
    return (logprobs - old_logprobs_of_sequence(logprobs, OLD, MASK)).exp()


def gradient(ratio: torch.Tensor, advantages: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
    (found,) = torch.autograd.grad((ratio * advantages * MASK).sum(), of)
    return found


def test_the_value_is_the_ratio_of_the_sequence() -> None:
    logprobs = new_logprobs()
    expected = sequence_ratio(logprobs).expand_as(MASK)
    assert torch.allclose(token_ratio(logprobs), expected)


def test_equal_advantages_have_the_gradient_of_gspo() -> None:
    logprobs, advantages = new_logprobs(), torch.tensor([[0.7], [-1.2]])
    gspo = gradient(sequence_ratio(logprobs), advantages, logprobs)
    assert torch.allclose(gradient(token_ratio(logprobs), advantages, logprobs), gspo)


def test_gspo_alone_would_level_token_advantages_and_gspo_token_keeps_them() -> None:
    logprobs = new_logprobs()
    advantages = torch.tensor([[2.0, 0, 1, 1, 0], [0.5, 1.5, 0, 0, 0]])  # mean 1 in each row
    plain = gradient(sequence_ratio(logprobs), torch.ones(2, 1), logprobs)
    assert torch.allclose(gradient(sequence_ratio(logprobs), advantages, logprobs), plain)
    kept = gradient(token_ratio(logprobs), advantages, logprobs)
    assert torch.allclose(kept, sequence_ratio(logprobs) * advantages * MASK)


def test_a_policy_that_has_not_moved_has_the_ratio_1() -> None:
    logprobs = new_logprobs()
    old = old_logprobs_of_sequence(logprobs, None, MASK)
    assert torch.equal(old, logprobs.detach()) and not old.requires_grad
