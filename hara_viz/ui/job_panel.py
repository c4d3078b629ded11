"""The jobs: what runs and what ran last. Polls files; the work is done elsewhere."""

from __future__ import annotations

import streamlit as st

from hara_viz.backend import jobs
from hara_viz.backend.jobs import JobState
from hara_viz.ui.job_card import go_to_shown_run, job_card, run_of
from hara_viz.ui.roots import roots

_SHOWN = 6
_POLL_SECONDS = 1.0
_NEWS = "hara.job_news"


def job_panel() -> None:
    """The latest jobs; the panel renews itself, and the page when there is a new run to show."""
    go_to_shown_run()
    if not jobs.list_jobs(roots().jobs):
        st.caption(
            "No jobs yet. Start, Import, Judge and Read below make one; it runs on when the "
            "browser is closed."
        )
        return
    st.session_state.pop(_NEWS, None)
    _jobs()


@st.fragment(run_every=_POLL_SECONDS)
def _jobs() -> None:
    found = jobs.list_jobs(roots().jobs)
    news = {(job.id, job.state is JobState.DONE, run_of(job, roots())) for job in found}
    if st.session_state.setdefault(_NEWS, news) != news:
        st.rerun()
    for job in found[:_SHOWN]:
        job_card(job)
    if len(found) > _SHOWN:
        st.caption(f"{len(found) - _SHOWN} older ones: `hara-viz jobs list`")
