"""Temperature and cuts against their definitions, done slowly."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hara_viz.models import cuts
from hara_viz.models.cuts import shape_logits
from hara_viz.types import SamplingConfig

LOGITS = torch.tensor([[2.0, 1.0, 0.0, -1.0, 0.5]])
P = LOGITS.softmax(-1)[0]  # sorted: ids 0, 1, 4, 2, 3


def kept(config: SamplingConfig, logits: torch.Tensor = LOGITS) -> set[int]:
    shaped = shape_logits(logits, config, None)
    return set(shaped[0].isfinite().nonzero()[:, 0].tolist())


def test_nothing_set_changes_nothing() -> None:
    assert torch.equal(shape_logits(LOGITS, SamplingConfig(), None), LOGITS)


def test_temperature_divides() -> None:
    assert torch.equal(shape_logits(LOGITS, SamplingConfig(temperature=0.5), None), LOGITS * 2)


def test_top_k_keeps_the_k_largest() -> None:
    assert kept(SamplingConfig(top_k=3)) == {0, 1, 4}
    assert kept(SamplingConfig(top_k=99)) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("top_p", "expected"),
    [
        (float(P[0]) - 1e-4, {0}),
        (float(P[0]) + 1e-4, {0, 1}),  # the token that crosses the mass is kept
        (float(P[0] + P[1]) + 1e-4, {0, 1, 4}),
        (1e-9, {0}),
    ],
)
def test_top_p_keeps_the_smallest_set_that_reaches_the_mass(
    top_p: float, expected: set[int]
) -> None:
    assert kept(SamplingConfig(top_p=top_p)) == expected


def test_top_p_counts_mass_after_top_k() -> None:
    # Of the two tokens left, the first alone has exp(2) / (exp(2) + exp(1)) = 0.731.
    assert kept(SamplingConfig(top_k=2, top_p=0.73)) == {0}
    assert kept(SamplingConfig(top_k=2, top_p=0.74)) == {0, 1}


def test_min_p_is_relative_to_the_likeliest() -> None:
    ratio = float(P[4] / P[0])
    assert kept(SamplingConfig(min_p=ratio * 0.999)) == {0, 1, 4}
    assert kept(SamplingConfig(min_p=ratio * 1.001)) == {0, 1}
    assert kept(SamplingConfig(min_p=1.0)) == {0}


def test_repetition_penalty_makes_seen_tokens_less_likely_whatever_their_sign() -> None:
    seen = torch.tensor([[True, False, False, True, False]])
    shaped = shape_logits(LOGITS, SamplingConfig(repetition_penalty=2.0), seen)
    assert shaped.tolist() == [[1.0, 1.0, 0.0, -2.0, 0.5]]


def test_greedy_keeps_the_penalty_and_ignores_the_rest() -> None:
    seen = torch.tensor([[True, False, False, False, False]])
    config = SamplingConfig(temperature=0, top_k=1, top_p=0.1, repetition_penalty=4.0)
    assert shape_logits(LOGITS, config, seen).argmax(-1).item() == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 0.999))
def test_top_p_agrees_with_a_full_sort(seed: int, top_p: float) -> None:
    logits = torch.randn(3, 50, generator=torch.Generator().manual_seed(seed)) * 3
    shaped = shape_logits(logits, SamplingConfig(top_p=top_p), None)
    for row, original in zip(shaped, logits, strict=True):
        order = original.double().softmax(-1).sort(descending=True)
        n_kept = int((order.values.cumsum(0) - order.values < top_p).sum())
        got = set(row.isfinite().nonzero()[:, 0].tolist())
        want = set(order.indices[:n_kept].tolist())
        edge = float((order.values.cumsum(0)[n_kept - 1] - top_p).abs())
        assert got == want or edge < 1e-5  # float32 may round the crossing token either way


def test_a_nucleus_wider_than_the_candidates_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "CANDIDATES", 4)
    flat = torch.zeros(1, 40) + torch.arange(40) * 1e-3
    assert len(kept(SamplingConfig(top_p=0.5), flat)) == pytest.approx(20, abs=1)
