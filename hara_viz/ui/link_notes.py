"""What the link asked for in vain, said once on top of the page."""

from __future__ import annotations

import streamlit as st

from hara_viz.ui import state
from hara_viz.ui.words import inert


def link_notes() -> None:
    """A warning for each part of the link that could not be honoured."""
    notes = state.notes()
    if notes:
        st.warning("\n\n".join(inert(note) for note in notes), icon=":material/link_off:")
