"""The frame around every page: navigation, selection, sidebar. Start it with `hara-viz app`."""

import streamlit as st

from hara_viz.ui import STYLE, state
from hara_viz.ui.bus import selection_bus
from hara_viz.ui.frame import configure, enter_page, pages, reads_credit
from hara_viz.ui.heap import spare_modules
from hara_viz.ui.key_map import key_map
from hara_viz.ui.sidebar import sidebar
from hara_viz.ui.trouble import trouble_told

spare_modules()
configure()
page = st.navigation(pages(), position="top")
st.html(STYLE)
state.open_page()
with st.sidebar:
    with trouble_told():
        sidebar(with_credit=reads_credit(page))
    selection_bus()
    key_map(page)
state.mirror()
enter_page()
with trouble_told():
    page.run()
