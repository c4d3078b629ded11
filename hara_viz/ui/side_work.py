"""Results from the side process, with a message, the seconds so far and a Stop button meanwhile.

Results stay in memory, keyed by what was asked, and are shared between sessions. A reader who goes
on while something is computed loses nothing: it is there when they come back.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st

from hara_viz.backend.side_process import SideProcess
from hara_viz.errors import HaraError
from hara_viz.ui.words import inert

_KEPT = 64


@dataclass
class _Workshop:
    process: SideProcess = field(default_factory=SideProcess)
    futures: OrderedDict[Hashable, Future[Any]] = field(default_factory=OrderedDict)
    since: WeakKeyDictionary[Future[Any], float] = field(default_factory=WeakKeyDictionary)
    """When each was asked for, on the monotonic clock."""


def computed(function: Callable[..., Any], *arguments: Hashable, message: str, key: str) -> Any:
    """The result of a backend function; waits for it on the page, or says why there is none.

    Args:
        function: of a backend module; it must take and give plain data.
        arguments: hashable; equal ones are computed once.
        message: what is being done, with how long it may take.
        key: names the widgets.

    Returns:
        The result; None after a failure or a stop, which is said in its place.
    """
    future = begun(function, *arguments)
    _wait(future, message, key)
    try:
        return future.result()
    except HaraError as error:
        st.warning(inert(str(error), 600))
    except RuntimeError as error:
        st.error(inert(f"This failed: {error}. The terminal of the app has the details."))
    st.button("Try again", key=f"{key}.again", on_click=_forget, args=(function, arguments))
    return None


def is_computed(function: Callable[..., Any], *arguments: Hashable) -> bool:
    """Whether a result is at hand."""
    future = _workshop().futures.get((function, arguments))
    return future is not None and future.done()


def begun(
    function: Callable[..., Any], *arguments: Hashable, also: tuple[Any, ...] = ()
) -> Future[Any]:
    """The result of a backend function, now or later; equal arguments are computed once.

    `also`: further arguments that follow from the others, such as arrays.
    """
    shop = _workshop()
    name = (function, arguments)
    if name not in shop.futures:
        shop.futures[name] = shop.process.submit(function, *arguments, *also)
        shop.since[shop.futures[name]] = time.monotonic()
        while len(shop.futures) > _KEPT:
            shop.futures.popitem(last=False)
    shop.futures.move_to_end(name)
    return shop.futures[name]


def renew_when_done(future: Future[Any], message: str, key: str) -> None:
    """Say that a result is on its way, with a Stop button; run the page again once it is there."""
    since = _workshop().since[future]

    def wait() -> None:
        if future.done():
            st.rerun()
        line, stop = st.columns([6, 1], vertical_alignment="center")
        line.info(f"{message} {time.monotonic() - since:.0f} s", icon=":material/hourglass_top:")
        stop.button("Stop", key=f"{key}.stop", on_click=_workshop().process.stop)
        step = _workshop().process.progress
        if future.running() and step is not None and step.total:
            st.progress(
                min(1.0, step.done / step.total),
                text=f"{step.stage}: {step.done:,} of {step.total:,} {step.unit}",
            )

    with st.container(key=f"{key}.waiting"):
        st.fragment(wait, run_every=1.0)()


def _wait(future: Future[Any], message: str, key: str) -> None:
    begun = time.monotonic()
    while not future.done() and time.monotonic() - begun < 0.2:
        time.sleep(0.02)
    if future.done():
        return
    with st.empty().container(key=f"{key}.waiting"):
        line = st.empty()
        st.button("Stop", key=f"{key}.stop", on_click=_workshop().process.stop)
        while not future.done():
            # Saying something lets the script be interrupted here.
            line.info(
                f"{message} {time.monotonic() - begun:.0f} s", icon=":material/hourglass_top:"
            )
            time.sleep(0.4)
    st.rerun()


def forget(function: Callable[..., Any], *arguments: Hashable) -> None:
    """Compute it anew when it is asked for again."""
    _forget(function, arguments)


def _forget(function: Callable[..., Any], arguments: tuple[Hashable, ...]) -> None:
    _workshop().futures.pop((function, arguments), None)


@st.cache_resource(show_spinner=False)
def _workshop() -> _Workshop:
    return _Workshop()
