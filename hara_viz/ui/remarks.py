"""Remarks on the selected rollout: a verdict put right, a bookmark, a note; each can be undone."""

from __future__ import annotations

from typing import Any

import streamlit as st

from hara_viz.backend.annotations import Annotation, Kind, annotate_group, annotations_of, take_back
from hara_viz.errors import HaraError
from hara_viz.ui import state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.words import inert, number

_WORDS = {Kind.VERDICT: "reward", Kind.BOOKMARK: "bookmark", Kind.NOTE: "note"}
_TEXT = "remarks.text"


def remarks(view: GroupView) -> None:
    """What was said about the group, and a form to say more."""
    said = annotations_of(view.run, view.key)
    if not said:
        st.caption("Nothing was said about this group yet.")
    for annotation in said:
        _line(view, annotation)
    sample = state.current().sample
    if view.row_of(sample) is None:
        sample = None
    about = "the group" if sample is None else f"rollout {sample}"
    st.text_input(f"About {about}", key=_TEXT, placeholder="A note, or the reason for a verdict")
    with st.container(horizontal=True):
        _button(view, "Note", Kind.NOTE, sample, ":material/edit_note:")
        _button(view, "Bookmark", Kind.BOOKMARK, sample, ":material/bookmark:")
        if sample is not None:
            right = max(1.0, view.config.success_threshold)
            _button(view, "Count as right", Kind.VERDICT, sample, ":material/check:", right)
            _button(view, "Count as wrong", Kind.VERDICT, sample, ":material/close:", 0.0)
    if sample is None:
        st.caption("Pick a rollout to put its verdict right.")


def _line(view: GroupView, annotation: Annotation) -> None:
    words, button = st.columns([6, 1], vertical_alignment="center")
    words.text(line_of(annotation))
    button.button(
        "Undo",
        key=f"remarks.undo.{annotation.id}",
        on_click=_undo,
        args=(view, annotation.id),
        help="What was said stays in the file, but no longer holds",
    )


def line_of(annotation: Annotation) -> str:
    """An annotation on one line. Pure."""
    about = "group" if annotation.sample is None else f"rollout {annotation.sample}"
    what = _WORDS[annotation.kind]
    if annotation.kind is Kind.VERDICT:
        what += f" {number(annotation.reward)}"
    return " · ".join(filter(None, [about, what, annotation.text, annotation.created[:10]]))


def _button(
    view: GroupView,
    label: str,
    kind: Kind,
    sample: int | None,
    icon: str,
    reward: float | None = None,
) -> None:
    st.button(
        label,
        key=f"remarks.{label}",
        icon=icon,
        on_click=_say,
        args=(view, kind, sample, reward),
    )


def _say(view: GroupView, kind: Kind, sample: int | None, reward: float | None) -> None:
    text = st.session_state.get(_TEXT) or None
    if _done(annotate_group, view.run, kind, view.key, sample=sample, reward=reward, text=text):
        st.session_state[_TEXT] = ""
        about = "the group" if sample is None else f"rollout {sample}"
        st.toast(f"{_WORDS[kind].capitalize()} kept for {about}.", icon=":material/check:")


def _undo(view: GroupView, annotation_id: str) -> None:
    _done(take_back, view.run, annotation_id)


def _done(action: Any, *arguments: Any, **options: Any) -> bool:
    try:
        action(*arguments, **options)
    except HaraError as error:
        st.toast(inert(str(error)), icon=":material/error:")
        return False
    return True
