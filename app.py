"""The frame around every page: navigation, selection, sidebar. Start it with `hara-viz app`."""

import streamlit as st

from hara_viz.ui import ICON, STYLE, state
from hara_viz.ui.bus import selection_bus
from hara_viz.ui.sidebar import sidebar

st.set_page_config(
    page_title="HarA-Viz",
    page_icon=str(ICON),
    layout="wide",
    initial_sidebar_state=320,
)
# No url_path may be a file's name: for the first visitor of a fresh server Streamlit would take
# pages/ for its old multipage layout and run the page of that name without this frame.
page = st.navigation(
    [
        st.Page(
            "pages/rollouts.py",
            title="Rollouts",
            icon=":material/segment:",
            url_path="rollout",
            default=True,
        ),
        st.Page(
            "pages/runs.py",
            title="Runs",
            icon=":material/format_list_bulleted:",
            url_path="run",
        ),
    ],
    position="top",
)
st.html(STYLE)
state.open_page(page.url_path)
with st.sidebar:
    sidebar()
    selection_bus()
state.mirror()
page.run()
