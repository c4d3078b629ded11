"""The token heatmap of a group."""

from __future__ import annotations

import streamlit as st

from hara_viz.ui.group_view import GroupView


def heatmap(view: GroupView) -> None:
    """All rollouts of the group as running text."""
    for rollout in view.group.rollouts:
        st.code(rollout.completion_text, language=None)
