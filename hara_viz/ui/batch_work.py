"""Many calls of one kind in a process beside the app, with a progress bar and a Stop button.

A batch has a process of its own, apart from `side_work`'s: a reader who waits for a single answer
does not wait for the rest of a batch. Results stay in memory, keyed by the calls; what a stopped
batch had finished is kept and not computed again.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from hara_viz.backend.side_process import SideProcess
from hara_viz.errors import HaraError
from hara_viz.ui.words import inert

Call = tuple[Callable[..., Any], tuple[Hashable, ...]]
_KEPT = 1024


@dataclass
class _Bench:
    process: SideProcess = field(default_factory=SideProcess)
    futures: OrderedDict[Hashable, Future[Any]] = field(default_factory=OrderedDict)
    begun: dict[Hashable, tuple[float, int]] = field(default_factory=dict)
    """When a batch was asked for, on the monotonic clock, and how much of it was there already."""


def batch(calls: Sequence[Call], *, message: str, key: str) -> list[Any] | None:
    """The results of all calls, in their order, if they are there.

    While some are not, their progress is shown, and the page runs again once they are; None then,
    and None after a failure or a stop, which is said in its place with a button to go on.
    """
    bench, waiting = _bench(), _futures(calls)
    if waiting is None:
        return None
    if not all(future.done() for future in waiting):
        _wait(calls, message, key)
        return None
    try:
        found = [future.result() for future in waiting]
    except (CancelledError, HaraError, RuntimeError) as error:
        _say(error, sum(_finished(future) for future in waiting), len(calls))
        st.button("Go on", key=f"{key}.again", on_click=begin, args=(calls,))
        return None
    for call in calls:
        bench.futures.move_to_end(call)
    return found


def begin(calls: Sequence[Call]) -> None:
    """Queue the calls that have not been made, or that failed or were stopped; for a callback."""
    bench = _bench()
    for call in calls:
        known = bench.futures.get(call)
        if known is None or (known.done() and not _finished(known)):
            function, arguments = call
            bench.futures[call] = bench.process.submit(function, *arguments)
    done = sum(bench.futures[call].done() for call in calls)
    bench.begun[tuple(calls)] = time.monotonic(), done
    while len(bench.futures) > _KEPT:
        bench.futures.popitem(last=False)


def is_begun(calls: Sequence[Call]) -> bool:
    """Whether all calls have been asked for."""
    return _futures(calls) is not None


def stop(calls: Sequence[Call]) -> None:
    """Take the calls that wait out of the queue, and end the one that runs; for a callback."""
    waiting = _futures(calls) or []
    for future in waiting:
        future.cancel()
    if not all(future.done() for future in waiting):
        _bench().process.stop()


def _futures(calls: Sequence[Call]) -> list[Future[Any]] | None:
    known = _bench().futures
    return [known[call] for call in calls] if all(call in known for call in calls) else None


def _finished(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _wait(calls: Sequence[Call], message: str, key: str) -> None:
    waiting = _futures(calls) or []
    since, before = _bench().begun.get(tuple(calls), (time.monotonic(), 0))

    def show() -> None:
        done = sum(future.done() for future in waiting)
        if done == len(waiting):
            st.rerun()
        line, button = st.columns([6, 1], vertical_alignment="center")
        seconds = time.monotonic() - since
        left = ""
        if done > before and seconds > 1:
            left = f" · {(len(waiting) - done) * seconds / (done - before):.0f} s left"
        text = f"{message}: {done} of {len(waiting)} · {seconds:.0f} s{left}"
        line.progress(done / len(waiting), text=text)
        button.button("Stop", key=f"{key}.stop", on_click=stop, args=(calls,))

    with st.container(key=f"{key}.waiting"):
        st.fragment(show, run_every=1.0)()


def _say(error: BaseException, done: int, total: int) -> None:
    if isinstance(error, CancelledError) or "was stopped" in str(error):
        st.info(f"Stopped: {done} of {total} are done and kept.")
    elif isinstance(error, HaraError):
        st.warning(inert(str(error), 600))
    else:
        st.error(inert(f"This failed: {error}. The terminal of the app has the details."))


@st.cache_resource(show_spinner=False)
def _bench() -> _Bench:
    return _Bench()
