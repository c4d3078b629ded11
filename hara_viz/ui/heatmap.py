"""The token heatmap of the selected group."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st
from streamlit.components.v2 import component
from streamlit.delta_generator import DeltaGenerator

from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.credit import GroupCredit
from hara_viz.backend.further_signals import Asked, is_further, offers, own_channel
from hara_viz.components.token_heatmap import (
    SignalFrame,
    assets,
    carrier_assets,
    content_of,
    encode,
    encode_signal,
    frame_of,
)
from hara_viz.export import group_page
from hara_viz.types import GroupKey
from hara_viz.ui import data, state
from hara_viz.ui.among import among_bar
from hara_viz.ui.bus import heard, take
from hara_viz.ui.further import further_channel, wait_for_further
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.inspector import follow_pick
from hara_viz.ui.problem_list import step_problem

KEY, BESIDE_KEY = "heatmap", "map.text"
CARRIERS = {"signal": "heatmap.fill", "underline": "heatmap.line"}

_parts, _carrier_parts = assets(), carrier_assets()
_heatmap = component("hara_token_heatmap", html=_parts.html, css=_parts.css, js=_parts.js)
_carrier = component(
    "hara_signal_carrier", html=_carrier_parts.html, css=_carrier_parts.css, js=_carrier_parts.js
)


def heatmap(view: GroupView) -> None:
    """All rollouts of the group as running text, coloured by the selected signal."""
    _mount(view, KEY, lambda: follow_pick(KEY))
    missing = [
        s
        for s in SIGNALS.values()
        if s.missing and not is_further(s.name) and view.values(s.name) is None
    ]
    for reason in dict.fromkeys(signal.missing for signal in missing):
        names = ", ".join(signal.label for signal in missing if signal.missing == reason)
        st.caption(f"Not to be seen here: {names}. {reason}")


def beside_text(view: GroupView) -> DeltaGenerator:
    """The same text at the right; gives the place at its left, for another view of the group.

    What is picked in one is lit in the other by the browser alone.
    """
    left, right = st.columns([5, 4], gap="small")
    with right:
        text_below(view)
    return left


def text_below(view: GroupView) -> None:
    """The same text on a page that has other views of the group."""
    among_bar()
    _mount(view, BESIDE_KEY, lambda: take(heard(BESIDE_KEY, "pick")))


def _mount(view: GroupView, mounted: str, on_pick: Callable[[], None]) -> None:
    base = _frame(*view.identity, view.credit, view.asked)
    _heatmap(
        key=mounted,
        data=base.data,
        on_pick_change=on_pick,
        on_view_change=lambda: take(heard(mounted, "view")),
        on_problem_change=lambda: _step(heard(mounted, "problem")),
    )
    selection = state.current()
    wanted = {"signal": selection.signal, "underline": selection.underline}
    for field, key in CARRIERS.items():  # always both: what comes and goes makes the page jump
        _carrier(key=key, data=_signal_frame(view, wanted[field], base.content))
    wait_for_further(view, {name for name in wanted.values() if name is not None})


def download(view: GroupView) -> None:
    """The group as one HTML file: this heatmap, to be passed on without the app."""
    name = state.current().signal
    carried = [name] if is_further(name) and further_channel(view, name).values is not None else []
    st.download_button(
        "Download as one HTML file",
        data=lambda: group_page(view.run, view.credit, signals=carried),
        file_name=f"{view.file_stem}.html",
        mime="text/html",
        on_click="ignore",
        key="heatmap.download",
        type="tertiary",
        icon=":material/download:",
        help="Opens in any browser, without a server or a network.",
    )


def _step(by: object) -> None:
    if by in (1, -1):
        step_problem(int(str(by)))


class BaseFrame(NamedTuple):
    """The bytes that the heatmap is mounted with."""

    data: bytes
    content: str
    """Their digest: further signals name it."""


@st.cache_resource(max_entries=32, show_spinner=False)
def _frame(
    run: str,
    stamp: int,
    key: GroupKey,
    config: str,
    layer: int | None,
    _found: GroupCredit,
    _asked: Asked,
) -> BaseFrame:
    checkpoint = data.run(run).info.checkpoint
    frame = frame_of(
        _found.group,
        _found.credit,
        special_ids=checkpoint.special_ids if checkpoint else (),
        success_threshold=_found.config.success_threshold,
        offers=offers(_asked),
    )
    encoded = encode(frame)
    return BaseFrame(encoded, content_of(encoded))


def _signal_frame(view: GroupView, name: str | None, base: str) -> bytes | None:
    """The frame of a further signal; None if none is asked for, or it is not there (yet)."""
    if name is None or not is_further(name):
        return None
    further = view.signal(name)
    values = further_channel(view, name).values
    if further is None or values is None:
        return None
    return encode_signal(
        SignalFrame(base=base, signal=name, channel=own_channel(further), values=values)
    )
