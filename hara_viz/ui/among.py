"""A filter of rollouts, such as those of a lasso: said, kept in the selection, taken back."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from hara_viz.ui import state
from hara_viz.ui.words import count

_OPEN = "hara.among.open"
_PAGE = "pages/rollouts.py"


def narrowed(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the filter's rollouts (column `rollout`); all of them while there is none."""
    among = state.current().among
    return frame.loc[frame["rollout"].isin(among)].reset_index(drop=True) if among else frame


def among_bar() -> None:
    """Which rollouts the tables are narrowed to, and the way back; nothing while to none."""
    among = state.current().among
    if not among:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f"Narrowed to rollouts {', '.join(map(str, among))}", width="content")
        st.button(
            "Show all rollouts",
            key="among.clear",
            icon=":material/filter_alt_off:",
            on_click=lambda: state.update(among=()),
        )


def among_button(samples: list[int]) -> None:
    """Lead to the Rollouts page with its table narrowed to these rollouts."""
    if st.session_state.pop(_OPEN, False):
        st.switch_page(_PAGE)
    chosen = tuple(sorted(set(samples)))

    def narrow() -> None:
        state.update(among=chosen)
        st.session_state[_OPEN] = True

    st.button(
        f"Narrow the table of Rollouts to {count(len(chosen), 'rollout')}",
        key="among.open",
        icon=":material/filter_alt:",
        on_click=narrow,
        help="The table of rollouts then lists only those with a point in the lasso.",
    )
