"""The inspector: all that is known of the pinned token."""

from __future__ import annotations

import streamlit as st
from streamlit.components.v2 import component

from hara_viz.components.token_card import assets, carrier_assets
from hara_viz.types import HiddenStates
from hara_viz.ui import state
from hara_viz.ui.bus import checked, heard, take
from hara_viz.ui.group_header import ROLLOUT_TABLE
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.token_card import card_of
from hara_viz.ui.trouble import trouble_told

INSPECTOR = "inspector"
"""The fragment that looks the token up."""
CARD, WORDS = "inspector.card", "inspector.words"
LIVE_NUMBERS = 2**26
"""Up to this many numbers of hidden states are compared at once; more, when asked for."""
_ASKED = "hara.similar_asked"

_parts, _carrier_parts = assets(), carrier_assets()
_card = component("hara_token_card", html=_parts.html, css=_parts.css, js=_parts.js)
_carrier = component(
    "hara_token_card_carrier", html=_carrier_parts.html, css=_carrier_parts.css,
    js=_carrier_parts.js,
)  # fmt: skip


def inspector(view: GroupView) -> None:
    """Everything about the selected token, or how to select one; it scrolls beside the text."""
    with st.container(key="inspector.box"):
        _card(key=CARD, on_pick_change=lambda: follow_pick(CARD))
        _inspect(view)


@st.fragment(key=INSPECTOR)
def _inspect(view: GroupView) -> None:
    selection = state.current()
    row = view.row_of(selection.sample)
    if row is None or selection.token is None:
        _carrier(key=WORDS, data=None)
        st.markdown("**Inspector**")
        st.caption(
            "Click a token to pin it: its values, the barycenter's atoms it is matched with and "
            "its counterparts in the other rollouts appear here."
        )
        return
    with trouble_told():  # the text beside it can still be read
        _look_up(view, row, selection.token)


def _look_up(view: GroupView, row: int, token: int) -> None:
    states = view.states()
    asked = (view.key, row, token)
    searched = not _is_large(states) or st.session_state.get(_ASKED) == asked
    card = card_of(view, row, token, states if searched else None, named=searched)
    _carrier(key=WORDS, data=card.to_json())
    if not searched:
        st.button(
            "Name the atoms, find similar tokens",
            key="inspector.find",
            help="Reads the hidden states of the whole group, which takes a while",
            on_click=lambda: st.session_state.update({_ASKED: asked}),
        )


def follow_pick(key: str) -> None:
    """A token was pinned in a component: only what tells of it runs again, unless more changed."""
    picked = heard(key, "pick")
    moved = checked(picked)
    if not moved or not isinstance(picked, dict) or picked.get("linked") is not True:
        take(picked)
        return
    parts = [INSPECTOR]
    if moved.get("sample") != state.current().sample:
        parts.append(ROLLOUT_TABLE)
    state.follow(**moved)
    st.rerun(parts)


def _is_large(states: HiddenStates | None) -> bool:
    return states is not None and states.states.numel() > LIVE_NUMBERS
