"""Every page runs inside `app.py`, even the first one of a fresh server.

Streamlit takes a folder named pages/ for its old multipage layout until `st.navigation` has been
called once in the process. Somebody who opens /runs on a server that has just started would get
that page alone: no sidebar, no selection. So `app.py` says `enter_page()` before it runs a page,
and a page that finds itself alone switches the old layout off and starts over.
"""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import Page

from hara_viz.ui import ICON

_FRAMED = "hara.framed"
# Runs shows what is kept, Training what a trainer computed, by settings of its own.
_WITHOUT_CREDIT = ("runs", "training")


def configure() -> None:
    """Title, icon and layout. An icon of our own: Streamlit fetches a page's from the network."""
    st.set_page_config(
        page_title="HarA-Viz",
        page_icon=str(ICON),
        layout="wide",
        initial_sidebar_state=320,
    )


def pages() -> list[Page]:
    """The pages of the app, in the order of the navigation."""
    return [
        st.Page("pages/rollouts.py", title="Rollouts", icon=":material/segment:", default=True),
        st.Page("pages/transport.py", title="Transport", icon=":material/conversion_path:"),
        st.Page("pages/embedding.py", title="Embedding", icon=":material/scatter_plot:"),
        st.Page("pages/compare.py", title="Compare", icon=":material/difference:"),
        st.Page("pages/training.py", title="Training", icon=":material/monitoring:"),
        st.Page("pages/learn.py", title="Learn", icon=":material/school:"),
        st.Page("pages/runs.py", title="Runs", icon=":material/format_list_bulleted:"),
    ]


def reads_credit(page: Page) -> bool:
    """Whether a page shows what the credit settings change."""
    return page.url_path not in _WITHOUT_CREDIT


def enter_page() -> None:
    """Say in `app.py` that the page run next has its frame."""
    st.session_state[_FRAMED] = True


def inside_frame() -> None:
    """First line of every page: go on inside the frame, or start over there."""
    if st.session_state.pop(_FRAMED, False):
        return
    configure()
    st.navigation(pages(), position="hidden")
    st.rerun()
