"""The token heatmap of the selected group."""

from __future__ import annotations

import streamlit as st
from streamlit.components.v2 import component

from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.credit import GroupCredit
from hara_viz.components.token_heatmap import assets, encode, frame_of
from hara_viz.types import GroupKey
from hara_viz.ui import data, state
from hara_viz.ui.bus import take
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.problem_list import step_problem

KEY = "heatmap"

_parts = assets()
_heatmap = component("hara_token_heatmap", html=_parts.html, css=_parts.css, js=_parts.js)


def heatmap(view: GroupView) -> None:
    """All rollouts of the group as running text, coloured by the selected signal."""
    _heatmap(
        key=KEY,
        data=_frame(
            view.run_name,
            data.run_stamp(view.run_name),
            view.key,
            view.config.to_json(),
            state.current().layer,
            view.credit,
        ),
        on_pick_change=lambda: take(st.session_state[KEY]["pick"]),
        on_view_change=lambda: take(st.session_state[KEY]["view"]),
        on_problem_change=lambda: step_problem(st.session_state[KEY]["problem"]),
    )
    missing = [s for s in SIGNALS.values() if s.missing and view.values(s.name) is None]
    for reason in dict.fromkeys(signal.missing for signal in missing):
        names = ", ".join(signal.label for signal in missing if signal.missing == reason)
        st.caption(f"Not to be seen here: {names}. {reason}")


@st.cache_data(max_entries=32, show_spinner=False)
def _frame(
    run: str, stamp: int, key: GroupKey, config: str, layer: int | None, _found: GroupCredit
) -> bytes:
    checkpoint = data.run(run).info.checkpoint
    return encode(
        frame_of(
            _found.group,
            _found.credit,
            special_ids=checkpoint.special_ids if checkpoint else (),
            success_threshold=_found.config.success_threshold,
        )
    )
