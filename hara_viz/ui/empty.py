"""Views with nothing in them: why, and which click or command fills them."""

from __future__ import annotations

import streamlit as st

from hara_viz.ui import data, state
from hara_viz.ui.roots import roots


def explain_no_group() -> None:
    """Nothing is selected because there is nothing to select."""
    unreadable = [summary for summary in data.runs() if summary.error is not None]
    if state.current().run is None:
        st.subheader("No runs yet")
        st.text(f"The runs folder is {roots().runs}. It holds no run that can be read.")
        if unreadable:
            st.text(f"{len(unreadable)} cannot be read; the Runs page says why.")
        st.caption("Start one on the Runs page, or on the command line:")
        st.code(
            "hara-viz sample --model MODEL --problems FILE --out RUN\nhara-viz app RUNS_FOLDER",
            language="bash",
        )
        st.page_link("pages/runs.py", label="Start a run", icon=":material/play_arrow:")
        return
    st.subheader("This run holds no finished group yet")
    st.caption("A group appears here as soon as all its rollouts are judged.")
    st.page_link("pages/runs.py", label="Watch it grow", icon=":material/monitoring:")
