"""Which signal fills the text, which one underlines it, how coarse, in which colour domain."""

from __future__ import annotations

import streamlit as st

from hara_viz.analysis.signals import SIGNALS
from hara_viz.ui import state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.words import number

_NONE = "none"


def signal_bar(view: GroupView) -> None:
    """One line of controls over the heatmap."""
    held = [name for name in SIGNALS if view.values(name) is not None]
    fill, under, level, bounds = st.columns([3, 3, 3, 2], vertical_alignment="bottom")
    selection = state.current()
    with fill:
        _choose("signal", "Fill", held, selection.signal)
    with under:
        _choose("underline", "Underline", [_NONE, *held], selection.underline or _NONE)
    with level:
        st.session_state["bar.level"] = selection.granularity
        st.segmented_control(
            "Shown per",
            state.LEVELS,
            required=True,
            key="bar.level",
            on_change=lambda: state.update(granularity=st.session_state["bar.level"]),
        )
    with bounds:
        _bounds(selection.bounds)
    missing = SIGNALS[selection.signal]
    if selection.signal not in held:
        st.caption(f"{missing.label}: {missing.missing}")


def _choose(field: str, label: str, names: list[str], chosen: str) -> None:
    key = f"bar.{field}"
    options = names if chosen in names else [*names, chosen]
    st.session_state[key] = chosen
    st.selectbox(
        label,
        options,
        format_func=lambda name: SIGNALS[name].label if name in SIGNALS else "None",
        key=key,
        help=SIGNALS[chosen].meaning if chosen in SIGNALS else None,
        on_change=lambda: state.update(**{field: _none(st.session_state[key])}),
    )


def _none(name: str) -> str | None:
    return None if name == _NONE else name


def _bounds(bounds: tuple[float, float] | None) -> None:
    label = "Colours: auto" if bounds is None else f"{number(bounds[0])} to {number(bounds[1])}"
    with st.popover(label, width="stretch"):
        st.caption("The colour domain; without one it is 2–98 % of the group.")
        low, high = st.columns(2)
        first = low.number_input("From", value=None if bounds is None else bounds[0], format="%g")
        last = high.number_input("To", value=None if bounds is None else bounds[1], format="%g")
        usable = first is not None and last is not None and first < last
        st.button(
            "Use",
            disabled=not usable,
            on_click=lambda: state.update(bounds=(float(first or 0), float(last or 0))),
        )
        st.button("Auto", disabled=bounds is None, on_click=lambda: state.update(bounds=None))
