"""Gumbel noise that is a function of (seed, problem, group, sample, position, token).

Adding it to log-probabilities and taking the argmax draws a token (Gumbel-max). As each value is
computed from its coordinates by a hash, with no generator state, a rollout draws the same noise
alone or in any batch, on any device, and after a restart. Two checkpoints that are sampled with one
seed share their noise, so their rollouts differ only where the policies do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor

MASK_64 = (1 << 64) - 1
GOLDEN_64 = 0x9E3779B97F4A7C15


def stream_key(seed: int, problem_id: str, group: int, sample: int) -> int:
    """64-bit key of one rollout's noise."""
    name = f"{seed}\x00{problem_id}\x00{group}\x00{sample}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little")


def position_words(key: int, position: int) -> tuple[int, int]:
    """Two signed 32-bit words for one position of a stream (the splitmix64 sequence of `key`)."""
    x = (key + (position + 1) * GOLDEN_64) & MASK_64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK_64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK_64
    x ^= x >> 31
    return _signed(x & 0xFFFFFFFF), _signed(x >> 32)


def token_codes(vocab_size: int, device: torch.device) -> Tensor:
    """[V] int32: scattered codes of the token ids, the part of the hash that is equal for all."""
    return _mix(torch.arange(1, vocab_size + 1, dtype=torch.int32, device=device), 0)


def gumbel_noise(codes: Tensor, words: Sequence[tuple[int, int]]) -> Tensor:
    """Standard Gumbel noise [B, V] float32 for B rows, each at its own stream and position.

    Args:
        codes: [V] from `token_codes`.
        words: One pair from `position_words` per row.

    Values lie in [-3.2, 22.2]: the uniform behind them has 31 bits, with the finest steps where the
    noise is largest, so a token of probability 1e-9 is still drawn about as often as it should be.
    """
    first, second = torch.tensor(words, dtype=torch.int32, device=codes.device).T
    bits = _mix(codes ^ first[:, None], second[:, None])
    uniform = _shift_right(bits, 1).float().add_(0.5).mul_(2.0**-31)
    # -log(1 - u) is exponential; u can round up to 1, whose noise is then -inf but for the clamp.
    exponential = uniform.neg_().log1p_().neg_().clamp_(max=24.0)
    return exponential.log_().neg_()


def _mix(x: Tensor, word: Tensor | int) -> Tensor:
    """A 32-bit integer hash (multiply, xor-shift; constants of `lowbias32`) with a key word."""
    x = x ^ _shift_right(x, 16)
    x *= 0x7FEB352D
    x ^= _shift_right(x, 15)
    x ^= word
    x *= _signed(0x846CA68B)
    x ^= _shift_right(x, 16)
    return x


def _shift_right(x: Tensor, bits: int) -> Tensor:
    """Logical shift: torch's own drags the sign bit along."""
    return (x >> bits).bitwise_and_((1 << (32 - bits)) - 1)


def _signed(x: int) -> int:
    return x - (1 << 32) if x >= 1 << 31 else x
