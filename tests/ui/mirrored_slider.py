"""A page with one slider that mirrors a truth of its own; 0.1 is refused."""

import streamlit as st

from hara_viz.ui.widgets import show

truth = st.session_state.setdefault("truth", 0.5)
high = max(1.0, truth)


def take() -> None:
    if st.session_state.moved != 0.1:  # which is refused
        st.session_state.truth = st.session_state.moved


show("moved", truth, 0.0, high)
st.slider("Moved", 0.0, high, step=0.1, key="moved", on_change=take)
