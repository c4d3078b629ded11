"""Batches beside the app: in order, stoppable, and nothing is computed twice."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hara_viz.errors import InvalidInputError
from hara_viz.ui import batch_work
from hara_viz.ui.batch_work import Call, begin, is_begun, stop
from tests.ui.slow_calls import nap, refuse


def ran(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "ran").read_text().split()]


def futures(calls: list[Call]):
    return [batch_work._bench().futures[call] for call in calls]


def test_results_come_in_order_and_are_kept(tmp_path: Path) -> None:
    calls: list[Call] = [(nap, (str(tmp_path), number, 0.0)) for number in range(5)]
    assert not is_begun(calls)
    begin(calls)
    assert is_begun(calls)
    assert [future.result(timeout=60) for future in futures(calls)] == [0, 10, 20, 30, 40]
    begin(calls)
    assert [future.result(timeout=60) for future in futures(calls)] == [0, 10, 20, 30, 40]
    assert ran(tmp_path) == [0, 1, 2, 3, 4]
    assert batch_work.batch(calls, message="", key="t") == [0, 10, 20, 30, 40]


def test_a_stopped_batch_ends_at_once_and_goes_on_where_it_was(tmp_path: Path) -> None:
    calls: list[Call] = [(nap, (str(tmp_path), 0, 0.0)), (nap, (str(tmp_path), 1, 30.0))]
    calls += [(nap, (str(tmp_path), number, 0.0)) for number in (2, 3)]
    begin(calls)
    deadline = time.monotonic() + 60
    while not (tmp_path / "ran").exists() or ran(tmp_path) != [0, 1]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    begun = time.monotonic()
    stop(calls)
    first, second, third, fourth = futures(calls)
    with pytest.raises(InvalidInputError, match="stopped"):
        second.result(timeout=20)
    assert time.monotonic() - begun < 20, "it does not wait for the call that runs"
    assert first.result() == 0 and third.cancelled() and fourth.cancelled()
    # The one that took long is left out here; the others go on.
    rest = [calls[0], *calls[2:]]
    begin(rest)
    assert [future.result(timeout=60) for future in futures(rest)] == [0, 20, 30]
    assert ran(tmp_path) == [0, 1, 2, 3]


def test_an_error_of_ours_arrives_as_it_is() -> None:
    calls: list[Call] = [(refuse, ("barycenter",))]
    begin(calls)
    with pytest.raises(InvalidInputError, match="there is no barycenter"):
        futures(calls)[0].result(timeout=60)
