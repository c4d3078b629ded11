"""The selection bus of the page: carries the selection to every component, and moves back."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.components.v2 import component

from hara_viz.components.selection_bus import assets
from hara_viz.ui import state

# What components share; the rest of the selection decides which data they get.
SHARED = ("problem", "sample", "token", "signal", "underline", "granularity", "bounds")
# What they are told besides, and leave to Python.
TOLD = (*SHARED, "among")

_parts = assets()
_bus = component("hara_selection_bus", html=_parts.html, css=_parts.css, js=_parts.js)


def selection_bus() -> None:
    """Tell the page's components what is selected, and hear what the user moves there."""
    selection = state.current()
    _bus(
        key="bus",
        data={name: getattr(selection, name) for name in TOLD},
        on_move_change=lambda: take(heard("bus", "move")),
    )


def heard(key: str, event: str) -> object:
    """What a component's trigger says, within its callback; None if nothing is left of it.

    A move that is sent while the page changes arrives when Streamlit has forgotten the component.
    Nothing is lost: the address that comes along names it.
    """
    held = st.session_state.get(key)
    return None if held is None else held.get(event)


def take(moved: object) -> None:
    """A component's word for the selection: known fields of the right kind, or nothing."""
    changes = checked(moved)
    if changes:
        state.update(**changes)


def checked(moved: object) -> dict[str, Any]:
    """The changes that a component's message asks for; what makes no sense is left out. Pure."""
    if not isinstance(moved, dict):
        return {}
    return {
        name: tuple(value) if name == "bounds" and value is not None else value
        for name, value in moved.items()
        if name in SHARED and _fits(name, value)
    }


def _fits(name: str, value: object) -> bool:
    if name in ("sample", "token"):
        return value is None or (type(value) is int and value >= 0)
    if name == "bounds":
        if value is None:
            return True
        if not isinstance(value, list | tuple) or len(value) != 2:
            return False
        low, high = value
        numbers = all(isinstance(end, int | float) for end in value)
        return numbers and low < high
    if name == "granularity":
        return value in state.LEVELS
    return isinstance(value, str) or (value is None and name == "underline")
