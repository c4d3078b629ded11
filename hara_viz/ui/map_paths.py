"""Which rollouts are drawn as paths over the map: chosen in a box or by ctrl + click on a point."""

from __future__ import annotations

import streamlit as st

from hara_viz.analysis.map_values import outcome_words
from hara_viz.ui import state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.widgets import show

_KEY = "map.paths"


def paths_box(view: GroupView, *, disabled: bool) -> None:
    """The choice of paths among the selected group's rollouts."""
    words = outcome_words([view.success(rollout) for rollout in view.group.rollouts])
    outcomes = dict(zip(view.samples, words, strict=True))
    paths = [sample for sample in state.current().paths if sample in outcomes]
    label = f"Paths · {', '.join(map(str, paths))}" if paths else "Paths"
    with st.popover(label, icon=":material/timeline:", width="stretch", disabled=disabled):
        show(_KEY, paths)
        st.multiselect(
            "Rollouts to draw as paths",
            view.samples,
            key=_KEY,
            format_func=lambda sample: f"{sample} · {outcomes[sample]}",
            on_change=_take,
            help="A line through a rollout's points in the order of its text, each in a colour.",
        )
        st.caption("Or ctrl + click a point of the map.")


def take_path(said: object, name: str) -> None:
    """A component's word for the rollout that was pointed at: its path comes, or goes again.

    What makes no sense is dropped.
    """
    if not isinstance(said, dict) or said.get("name") != name:
        return
    sample = said.get("sample")
    if type(sample) is int and sample >= 0:
        state.update(paths=tuple(sorted({*state.current().paths} ^ {sample})))


def _take() -> None:
    state.update(paths=tuple(sorted(st.session_state[_KEY])))
