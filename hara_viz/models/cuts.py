"""From raw logits to the distribution that is sampled: penalty, temperature, top-k, top-p, min-p.

Applied in that order, which is the order of transformers' `generate`. Cut tokens get -inf.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hara_viz.types import SamplingConfig

# top-p first looks at this many candidates: sorting a vocabulary of 150,000 costs more than the
# rest of the sampling, and the nucleus nearly always lies within the first thousand.
CANDIDATES = 1024


def shape_logits(logits: Tensor, sampling: SamplingConfig, seen: Tensor | None) -> Tensor:
    """Log-weights [B, V] to sample from; greedy decoding takes their argmax.

    Args:
        logits: [B, V] float32, not changed.
        sampling: Which cuts; temperature 0 leaves only the repetition penalty.
        seen: [B, V] bool, tokens of prompt and completion; needed for a repetition penalty.
    """
    if sampling.repetition_penalty != 1.0 and seen is not None:
        penalty = sampling.repetition_penalty
        logits = torch.where(
            seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits
        )
    if sampling.temperature == 0:
        return logits
    if sampling.temperature != 1.0:
        logits = logits / sampling.temperature
    if 0 < sampling.top_k < logits.shape[-1]:
        logits = _cut_below(logits, logits.topk(sampling.top_k).values[:, -1:])
    if sampling.top_p < 1.0:
        logits = _cut_below(logits, _nucleus_edge(logits, sampling.top_p))
    if sampling.min_p > 0:
        edge = logits.amax(-1, keepdim=True) + torch.tensor(sampling.min_p).log()
        logits = _cut_below(logits, edge)
    return logits


def _cut_below(logits: Tensor, edge: Tensor) -> Tensor:
    return logits.masked_fill(logits < edge, float("-inf"))


def _nucleus_edge(logits: Tensor, top_p: float) -> Tensor:
    """[B, 1]: the smallest logit of the smallest set of tokens whose mass reaches `top_p`."""
    log_total = logits.logsumexp(-1, keepdim=True)
    for n_candidates in (CANDIDATES, logits.shape[-1]):
        values = logits.topk(min(n_candidates, logits.shape[-1])).values
        masses = (values - log_total).exp()
        before = masses.cumsum(-1) - masses
        if n_candidates >= logits.shape[-1] or bool((before[:, -1] >= top_p).all()):
            break
    last = (before < top_p).sum(-1, keepdim=True) - 1
    return values.gather(-1, last.clamp(min=0))
