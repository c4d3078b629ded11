"""Starting jobs from a form, and what became of them, where the click was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from hara_viz.backend import jobs
from hara_viz.errors import HaraError
from hara_viz.ui.job_card import job_card
from hara_viz.ui.roots import roots
from hara_viz.ui.words import count, inert

_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Launched:
    """What the last click in a place has started."""

    job_ids: tuple[str, ...] = ()
    error: str = ""
    """Why the rest was not started."""


def launch(place: str, verb: str, arguments: Sequence[Mapping[str, Any]]) -> None:
    """Start one job for each set of arguments, from a button's callback; those on one device queue.

    `launched(place)` shows which were started, and why others were not.
    """
    started: list[str] = []
    error = ""
    try:
        for each in arguments:
            started.append(jobs.start(verb, each, roots().jobs))
    except HaraError as refused:
        error = str(refused)
    st.session_state[_key(place)] = _Launched(tuple(started), error)
    if started:
        st.toast("Started; it runs on when the browser is closed.", icon=":material/play_arrow:")


def all_started(place: str) -> bool:
    """Whether the last click in this place has started all that it should."""
    found: _Launched | None = st.session_state.get(_key(place))
    return found is not None and not found.error


def launched(place: str) -> None:
    """The jobs that the last click in this place has started; silent before the first one."""
    found: _Launched | None = st.session_state.get(_key(place))
    if found is None:
        return
    if found.error:
        st.error(inert(found.error, 600))
    if found.job_ids:
        st.fragment(_watch, run_every=_POLL_SECONDS)(place, found.job_ids)


def _watch(place: str, job_ids: tuple[str, ...]) -> None:
    known = [job for job in jobs.list_jobs(roots().jobs) if job.id in job_ids]
    # Of a series the one that is at work, else the last: cards of a long one would hide the page.
    at_work = [job for job in reversed(known) if not job.state.over] or known[:1]
    for job in at_work[:1]:
        job_card(job, f"{place}.")
    if len(known) > 1:
        st.caption(f"{count(len(known) - 1, 'other')} of this series: under Jobs, above.")


def _key(place: str) -> str:
    return f"hara.launched.{place}"
