"""Null and stability of spans: closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hara_viz.analysis.doubt import other_labellings, rank_p, sentence_spans, span_doubts


def test_few_rollouts_are_shuffled_in_every_way_there_is() -> None:
    found = other_labellings([0, 1, 2, 5, 7], [1, 5], draws=99)
    assert len(found) == math.comb(5, 2) - 1
    assert (1, 5) not in found and len(set(found)) == len(found)
    # Two against two: {1, 5} right is the same as {0, 2} right.
    assert other_labellings([0, 1, 2, 5], [1, 5], draws=99) == ((0, 1), (0, 5))


def test_many_rollouts_are_shuffled_in_different_ways_by_seed() -> None:
    scored = list(range(16))
    found = other_labellings(scored, range(8), draws=39, seed=3)
    assert len(set(found)) == 39 and tuple(range(8)) not in found
    assert not {tuple(r for r in scored if r not in rows) for rows in found} & set(found)
    assert all(len(set(rows)) == 8 and set(rows) <= set(scored) for rows in found)
    assert found == other_labellings(scored, range(8), draws=39, seed=3)
    assert found != other_labellings(scored, range(8), draws=39, seed=4)


def test_an_outcome_that_all_share_cannot_be_shuffled() -> None:
    assert other_labellings([0, 1, 2], [0, 1, 2], draws=9) == ()
    assert other_labellings([0, 1, 2], [], draws=9) == ()


def test_p_is_the_rank_among_the_shuffles() -> None:
    null = np.arange(19.0)
    assert rank_p(100.0, null) == pytest.approx(1 / 20)
    assert rank_p(-1.0, null) == 1.0
    assert rank_p(18.0, null) == pytest.approx(2 / 20)


def test_spans_against_their_null() -> None:
    z = np.array([2.0, 2.0, -1.0, np.nan, 0.0])
    null = np.array([[0.0, 0.0, -1.0, np.nan, 0.0], [1.0, 1.0, -1.0, np.nan, np.nan]])
    starts = np.array([[2.0, 4.0, -1.0, np.nan, 0.0]])
    spans = [(0, 0, 2), (0, 2, 3), (1, 0, 1), (1, 1, 2)]
    first, second, last = span_doubts(z, null, starts, spans, [0, 3, 5])
    assert first == pytest.approx((0, 0, 2, 2.0, 0.05, 0.95, 1 / 3, 0.5))
    assert (second.p, second.wobble) == (1.0, 0.0)
    assert (last.row, last.start, last.p) == (1, 1, 1.0)  # the unknown token in between is left out


def test_without_shuffles_or_starts_nothing_is_claimed() -> None:
    (found,) = span_doubts(np.ones(2), np.zeros((0, 2)), np.zeros((0, 2)), [(0, 0, 2)], [0, 2])
    assert math.isnan(found.p) and math.isnan(found.low) and math.isnan(found.wobble)


def test_sentences_cover_every_token_once() -> None:
    spans = sentence_spans([[0, 0, 1, 1, 1, 2], None, []], [6, 25, 0])
    assert spans[:3] == ((0, 0, 2), (0, 2, 5), (0, 5, 6))
    assert spans[3:] == ((1, 0, 12), (1, 12, 24), (1, 24, 25))
