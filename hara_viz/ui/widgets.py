"""Widgets that show what the selection says."""

from __future__ import annotations

from typing import Any

import streamlit as st


def show(key: str, value: Any, *ends: float) -> None:
    """Have the widget `key`, drawn next, show `value`.

    A value that Python sends overwrites what the user has done to the widget since the rerun
    began: two quick presses on a slider would count as one. So nothing is sent that is known.

    Args:
        ends: a slider's least and greatest value; with others it is a new widget, which knows
            nothing yet.
    """
    known = st.session_state.get(_ends_key(key), ends) == ends
    if not known or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    if ends:
        st.session_state[_ends_key(key)] = ends


def _ends_key(key: str) -> str:
    return f"hara.ends.{key}"
