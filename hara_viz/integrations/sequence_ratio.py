"""Sequence-level importance ratios that keep the advantages of tokens apart: GSPO-token.

GSPO's ratio s = exp(mean_t log(π_t / π_old,t)) hangs on all tokens of a rollout alike. Through it
each token's gradient carries the *mean* of the rollout's token advantages, so that weights with
mean 1 would have no effect at all. GSPO-token (arXiv 2507.18071, section 4.3) has the same value
and clips the same, but passes the gradient through the token's own probability:

    s_t = sg[s] · π_t / sg[π_t]

With equal advantages in a rollout both have the same gradient.
"""

from __future__ import annotations

from torch import Tensor


def old_logprobs_of_sequence(logprobs: Tensor, old: Tensor | None, mask: Tensor) -> Tensor:
    """log π_old [B, C] such that the token ratio π_t / π_old,t has the value s in each row.

    Args:
        logprobs: [B, C] log π, with gradient.
        old: [B, C] log π_old; None: the policy has not moved, s = 1.
        mask: [B, C], 1 on the tokens that count.
    """
    now = logprobs.detach()
    if old is None:
        return now
    n_tokens = mask.sum(-1, keepdim=True).clamp(min=1)
    mean_log_ratio = ((now - old) * mask).sum(-1, keepdim=True) / n_tokens
    return now - mean_log_ratio
