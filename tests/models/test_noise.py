"""The noise is Gumbel, independent, and hangs on its coordinates alone."""

from __future__ import annotations

import math

import pytest
import torch

from hara_viz.models.noise import gumbel_noise, position_words, stream_key, token_codes

CPU = torch.device("cpu")


def noise(keys: list[int], positions: list[int], vocab_size: int) -> torch.Tensor:
    words = [position_words(k, p) for k, p in zip(keys, positions, strict=True)]
    return gumbel_noise(token_codes(vocab_size, CPU), words)


def test_values_follow_the_gumbel_distribution() -> None:
    values = noise([stream_key(0, "p", 0, s) for s in range(8)], list(range(8)), 50_000).flatten()
    uniform = torch.exp(-torch.exp(-values.double())).sort().values
    n = len(uniform)
    # Kolmogorov-Smirnov distance; 1.95 / sqrt(n) is passed by chance once in a thousand seeds.
    distance = (uniform - torch.arange(1, n + 1, dtype=torch.float64) / n).abs().max()
    assert distance < 1.95 / math.sqrt(n)
    assert values.mean() == pytest.approx(0.5772, abs=0.01)
    assert values.var() == pytest.approx(math.pi**2 / 6, abs=0.02)


def test_tails_are_finite_and_fine() -> None:
    values = noise([stream_key(0, "p", 0, s) for s in range(40)], [0] * 40, 100_000)
    assert values.isfinite().all()
    # Of 4 million draws about 4e6 * exp(-x) exceed x: the far tail is neither cut nor lumped.
    assert (values > 12).sum().item() == pytest.approx(4e6 * math.exp(-12), abs=5 * 25**0.5)
    assert values[values > 10].unique().numel() == (values > 10).sum().item()


@pytest.mark.parametrize("shift", ["position", "sample", "token", "seed"])
def test_neighbours_are_uncorrelated(shift: str) -> None:
    n = 50_000
    here = noise([stream_key(0, "p", 0, 0)], [7], n + 1)[0]
    if shift == "token":
        pairs = torch.stack([here[:-1], here[1:]])
    else:
        seed, sample = int(shift == "seed"), int(shift == "sample")
        position = 7 + int(shift == "position")
        there = noise([stream_key(seed, "p", 0, sample)], [position], n + 1)[0]
        pairs = torch.stack([here, there])
    assert abs(torch.corrcoef(pairs)[0, 1].item()) < 4 / math.sqrt(n)


def test_positions_of_one_token_are_uncorrelated() -> None:
    key, n = stream_key(3, "p", 1, 2), 4000
    series = noise([key] * n, list(range(n)), 3)[:, 1]
    assert abs(torch.corrcoef(torch.stack([series[:-1], series[1:]]))[0, 1].item()) < 4 / n**0.5


def test_a_row_is_the_same_alone_and_in_a_batch() -> None:
    keys = [stream_key(0, f"problem-{i}", 0, 0) for i in range(5)]
    together = noise(keys, [0, 5, 9, 1, 2], 333)
    assert torch.equal(together[2:3], noise(keys[2:3], [9], 333))


def test_every_coordinate_changes_the_stream() -> None:
    names = [(0, "p", 0, 0), (1, "p", 0, 0), (0, "q", 0, 0), (0, "p", 1, 0), (0, "p", 0, 1)]
    assert len({stream_key(*name) for name in names}) == 5
    # Digits of one field must not run into the next.
    assert stream_key(0, "p", 1, 11) != stream_key(0, "p", 11, 1)
