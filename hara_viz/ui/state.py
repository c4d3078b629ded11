"""The Selection of this session, mirrored in the address bar. Every page reads and moves it here.

Who wins, the session or the address? A rerun brings the address along. If it is what this module
last saw, the session wins. If it differs, somebody followed a link, edited the address or went
back in the history: the address wins. Two exceptions: a move made in this very rerun is newer than
the address that it was sent with, and a bare address asks for nothing.

A component that moves the token replaces the address itself (no history entry) before Python hears
of it; `mirror` then finds nothing left to write. What only Python changes makes a history entry.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import streamlit as st

from hara_viz.ui.link import from_query, to_query
from hara_viz.ui.selection import LEVELS, Selection, move

__all__ = [
    "LEVELS",
    "Selection",
    "current",
    "follow",
    "mirror",
    "note",
    "notes",
    "open_page",
    "settle",
    "update",
]

_SELECTION, _NOTES = "hara.selection", "hara.notes"
_SEEN, _BEFORE, _WRITTEN_AT = "hara.seen", "hara.before", "hara.written_at"
_MOVED = "hara.moved"
# A rerun sent before the browser heard of the last address still carries the one before it.
_IN_FLIGHT_SECONDS = 1.0

Query = Mapping[str, list[str]]


def current() -> Selection:
    """The selection of this session."""
    return st.session_state.get(_SELECTION) or Selection()


def update(**changes: Any) -> None:
    """Move the selection, from a widget's or a component's callback.

    What the move makes meaningless is reset (see `selection.move`): changing the rollout unpins
    the token unless the same call pins another.
    """
    st.session_state[_SELECTION] = move(current(), **changes)
    st.session_state[_MOVED] = True


def follow(**changes: Any) -> None:
    """Take over a move that its component has written to the address already.

    Nothing is left to mirror, so a fragment may run alone afterwards.
    """
    st.session_state[_SELECTION] = move(current(), **changes)
    st.session_state[_BEFORE] = st.session_state.get(_SEEN)
    st.session_state[_SEEN] = to_query(current())


def settle(selection: Selection, complaints: tuple[str, ...] = ()) -> None:
    """Put what exists in place of what was asked for; the sentences are shown once, as a warning.

    Complaints are kept only when the selection came from a link in this rerun: a user who moves on
    to a shorter rollout knows that the old token is gone.
    """
    st.session_state[_SELECTION] = selection
    if st.session_state.get(_NOTES) is not None:
        st.session_state[_NOTES] = (*st.session_state[_NOTES], *complaints)


def note(sentences: tuple[str, ...]) -> None:
    """Have sentences shown once, as a warning, wherever the selection came from: for what was lost
    without the user's doing.
    """
    if sentences:
        st.session_state[_NOTES] = (*notes(), *sentences)


def notes() -> tuple[str, ...]:
    """What the link of this rerun asked for in vain; plain text, hostile until escaped."""
    return st.session_state.get(_NOTES) or ()


def open_page() -> Selection:
    """Start a rerun: take up the address if it is news. Call it once, first of all."""
    query = _address()
    st.session_state[_NOTES] = None
    moved = st.session_state.pop(_MOVED, False)
    if _SELECTION not in st.session_state or _is_news(query, moved):
        st.session_state[_SELECTION], st.session_state[_NOTES] = from_query(query)
    return current()


def mirror() -> None:
    """Write the selection to the address bar, if it is not there already."""
    query = to_query(current())
    if query != _address():
        st.query_params.from_dict(query)
        st.session_state[_WRITTEN_AT] = time.monotonic()
    st.session_state[_BEFORE] = st.session_state.get(_SEEN)
    st.session_state[_SEEN] = query


def _is_news(query: Query, moved: bool) -> bool:
    # A bare address asks for nothing: the navigation drops the query when it turns a page.
    if moved or not query or query == st.session_state.get(_SEEN):
        return False
    fresh_write = time.monotonic() - st.session_state.get(_WRITTEN_AT, 0) < _IN_FLIGHT_SECONDS
    return not (fresh_write and query == st.session_state.get(_BEFORE))


def _address() -> dict[str, list[str]]:
    return {name: st.query_params.get_all(name) for name in st.query_params}
