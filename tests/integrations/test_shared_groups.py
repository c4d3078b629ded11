from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hara_viz.integrations.shared_groups import Deal


@st.composite
def deals(draw: st.DrawFn) -> list[Deal]:
    """The same batch as each of its processes sees it."""
    size, world = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    n_groups = draw(st.integers(1, 4))
    n_local = size * n_groups  # so that all rows together are whole groups
    if draw(st.booleans()) and (n_local * world) % size == 0 and n_local > 1:
        n_local = next(n for n in range(n_local, 0, -1) if n * world % size == 0)
    return [
        Deal(n_local=n_local, group_size=size, rank=rank, world_size=world) for rank in range(world)
    ]


@given(deals())
def test_every_process_ends_up_with_whole_groups_and_nothing_else(of_rank: list[Deal]) -> None:
    for deal in of_rank:
        arrived = {row for peer in deal.peers for row in deal.wanted_from(peer)}
        assert arrived.isdisjoint(deal.own_rows)
        assert sorted(arrived | set(deal.own_rows)) == list(deal.needed_rows)
        groups = {deal.group_of(row) for row in deal.own_rows}
        everything = range(deal.n_local * deal.world_size)
        assert list(deal.needed_rows) == [r for r in everything if deal.group_of(r) in groups]


@given(deals())
def test_what_one_sends_is_what_the_other_waits_for(of_rank: list[Deal]) -> None:
    for deal in of_rank:
        for other in of_rank:
            if other.rank != deal.rank:
                assert deal.wanted_by(other.rank) == other.wanted_from(deal.rank)
                assert (other.rank in deal.peers) == (deal.rank in other.peers)


def test_groups_that_lie_on_one_process_are_not_sent() -> None:
    deals = [Deal(n_local=8, group_size=4, rank=rank, world_size=3) for rank in range(3)]
    assert [deal.peers for deal in deals] == [[], [], []]


@pytest.mark.parametrize(
    ("n_local", "expected"),
    [(6, {0: {1: [4, 5]}, 1: {0: [6, 7]}}), (2, {0: {1: [0, 1]}, 1: {0: [2, 3]}})],
)
def test_only_the_shared_rows_are_sent(
    n_local: int, expected: dict[int, dict[int, list[int]]]
) -> None:
    for rank, sent in expected.items():
        deal = Deal(n_local=n_local, group_size=4, rank=rank, world_size=2)
        assert {peer: deal.wanted_by(peer) for peer in deal.peers} == sent
