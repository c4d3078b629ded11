"""A filter of rollouts, such as those of a lasso: said, kept in the selection, taken back."""

from __future__ import annotations

from collections.abc import Sequence

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
    """Which rollouts text and tables are narrowed to, and the way back; nothing while to none."""
    among = state.current().among
    if not among:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(f"Narrowed to {rollout_names(among)}", width="content")
        st.button(
            "Show all rollouts",
            key="among.clear",
            icon=":material/filter_alt_off:",
            on_click=lambda: state.update(among=()),
        )


def rollout_names(samples: Sequence[int], most: int = 12) -> str:
    """Rollouts by number, the first few of many. Pure."""
    shown = ", ".join(map(str, samples[:most]))
    more = f" and {len(samples) - most} more" if len(samples) > most else ""
    return f"rollout{'' if len(samples) == 1 else 's'} {shown}{more}"


def among_button(samples: list[int], n_rollouts: int) -> None:
    """Lead to the Rollouts page, narrowed to these of the group's rollouts: text and tables."""
    if st.session_state.pop(_OPEN, False):
        st.switch_page(_PAGE)
    chosen = tuple(sorted(set(samples)))

    if len(chosen) == n_rollouts:
        st.caption(f"All {count(n_rollouts, 'rollout')} of the group have a point in it.")
        return

    def narrow() -> None:
        state.update(among=chosen)
        if state.current().sample not in chosen:
            state.update(sample=None)  # a selected rollout is shown whatever the filter says
        st.session_state[_OPEN] = True

    st.button(
        f"Show {'it' if len(chosen) == 1 else 'them'} alone: {rollout_names(chosen)}",
        key="among.open",
        icon=":material/filter_alt:",
        on_click=narrow,
        help="The text, the novel spans and the table of rollouts then show only those with a "
        "point in the lasso, until you show all again.",
    )
