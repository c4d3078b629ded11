"""A look into the problem set of the start form: what it holds, its first problem and gold."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from hara_viz.backend.problem_preview import (
    ColumnMap,
    ProblemPreview,
    parsed_gold,
    preview_problems,
)
from hara_viz.errors import HaraError
from hara_viz.ui.roots import Roots
from hara_viz.ui.sample_jobs import resolve
from hara_viz.ui.words import count, inert


@dataclass(frozen=True, slots=True)
class ProblemLook:
    """A problem set that can be read."""

    path: str
    """Where the choice or the typed name leads."""
    preview: ProblemPreview


def look_at_problems(chosen: str, columns: str, places: Roots) -> ProblemLook | None:
    """The problem set that was chosen or typed; None: it cannot be read, which is said here."""
    try:
        path = resolve(chosen, places)
        preview = _read(str(path), path.stat().st_mtime_ns, columns)
    except HaraError as error:
        st.error(inert(str(error), 600))
        return None
    st.caption(inert(str(path), 400))
    return ProblemLook(str(path), preview)


def show_first_problem(look: ProblemLook, reward: str) -> bool:
    """The first problem and how the verifier reads its gold answer, before anything is sampled.

    Returns:
        Whether the verifier can read it.
    """
    preview, gold = look.preview, look.preview.first.gold
    understood, error = None, ""
    try:
        understood = None if gold is None else _understood(reward, gold)
    except HaraError as refused:
        error = str(refused)
    with st.container(border=True):
        skipped = f", {len(preview.skipped)} skipped" if preview.skipped else ""
        twice = f", {preview.n_duplicates} twice" if preview.n_duplicates else ""
        st.markdown(
            f"**{count(preview.n_problems, 'problem')}**, read as {inert(preview.format)}"
            f"{skipped}{twice}. The first one:"
        )
        for message in preview.first.messages:
            st.text(f"{message.role}: {message.content}")
        written, read = st.columns(2)
        written.caption("Gold answer as written")
        written.text(gold or "none: rollouts stay unscored")
        read.caption(f"as the reward {reward} reads it")
        read.text(understood or "–")
        for row in preview.skipped[:3]:
            st.caption(f"Row {row.row} skipped: {inert(row.why)}")
        if error:
            st.error(inert(error, 600))
    return not error


@st.cache_data(max_entries=16, show_spinner="Reading the problem set …")
def _read(path: str, changed: int, columns: str) -> ProblemPreview:
    return preview_problems(path, columns=ColumnMap.parse(columns) if columns else None)


@st.cache_data(max_entries=64, show_spinner="Asking the verifier …")
def _understood(reward: str, gold: str) -> str:
    return parsed_gold(reward, gold)
