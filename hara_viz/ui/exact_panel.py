"""Exact FGW on demand, as a job: how well the fast solver ranks the tokens, and how well it could.

The job survives a closed browser, shows its progress, and can be stopped. What it found is read
from its record, so the same question is not computed twice.
"""

from __future__ import annotations

import json
from threading import Thread
from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.backend import jobs
from hara_viz.backend.exact import MAX_TOKENS, ExactCheck
from hara_viz.backend.jobs import Job, JobState
from hara_viz.credit.config import METHOD_VERSION
from hara_viz.errors import HaraError
from hara_viz.ui import data, state
from hara_viz.ui.job_card import progress_words, share
from hara_viz.ui.own_tokens import own_tokens
from hara_viz.ui.roots import roots
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import inert, number

_COMPLAINT = "hara.exact_complaint"


def exact_panel(shown: TransportView) -> None:
    """A button, then the job, then the comparison; or why there is none for this group."""
    st.caption(
        "Exact FGW (POT, float64) solves the same problem without the anchors. A barycenter is not "
        "unique, so two exact solves from different starts rank the tokens differently too: that "
        "agreement is the ceiling by which the fast solver is to be judged, not 1."
    )
    if not any(outcome.plans for outcome in shown.transport.found.credit.outcomes):
        st.info("No outcome of this group has two rollouts, so there is nothing to solve.")
        return
    lengths = [int(own_tokens(rollout).sum()) for rollout in shown.view.group.rollouts]
    if max(lengths) > MAX_TOKENS:
        st.info(
            f"The longest rollout has {max(lengths):,} tokens. Exact FGW holds the distances of "
            f"all pairs of them, and is refused above {MAX_TOKENS:,}; choose a problem with "
            "shorter rollouts."
        )
        return
    if complaint := st.session_state.pop(_COMPLAINT, None):
        st.error(inert(complaint, 600))
    arguments = exact_arguments(shown)
    job = job_for(arguments, data.run_stamp(shown.view.run_name) / 1e9)
    if job is None:
        _offer(arguments, lengths)
    elif not job.state.over:
        _watch(job)
    elif job.state is JobState.DONE and job.result is not None:
        _result(ExactCheck.from_plain(job.result))
    else:
        _unfinished(job)


def exact_arguments(shown: TransportView) -> dict[str, Any]:
    """Of the job for this group under these settings. Pure."""
    return {
        "run": str(shown.view.run.path),
        "key": list(shown.view.key),
        "config": json.loads(shown.view.config.to_json()),
        "layer": state.current().layer,
    }


def job_for(arguments: dict[str, Any], changed: float) -> Job | None:
    """The latest job with these arguments, if neither the run nor the method has changed since.

    `changed`: when the run did last, seconds since 1970.
    """
    for job in jobs.list_jobs(roots().jobs):
        ours = job.verb == "exact" and dict(job.arguments) == arguments
        if ours and job.created >= changed and not _of_another_method(job):
            return job
    return None


def _of_another_method(job: Job) -> bool:
    return job.result is not None and job.result.get("method_version") != METHOD_VERSION


def exact_frame(check: ExactCheck) -> pd.DataFrame:
    """What is shown of a comparison. Pure."""
    return pd.DataFrame(
        {
            "outcome": "right" if row.success else "wrong",
            "rollouts": row.n_rollouts,
            "tokens": row.n_tokens,
            "fast with exact": row.agreement,
            "ceiling: exact with exact": row.ceiling,
        }
        for row in check.rows
    )


def verdict(check: ExactCheck) -> list[tuple[str, bool]]:
    """One sentence per outcome, and whether it is good news. Pure."""
    said = []
    for row in check.rows:
        word = "right" if row.success else "wrong"
        if row.agreement is None or row.ceiling is None:
            said.append((f"{word}: no ranking to compare, all novelties are equal", True))
            continue
        gap = row.agreement - row.ceiling
        good = gap >= -0.05
        judged = "as good as exact" if good else f"{-gap:.2f} below what exact reaches"
        numbers = f"{row.agreement:.3f} against a ceiling of {row.ceiling:.3f}"
        said.append((f"{word}: {judged} ({numbers})", good))
    return said


def _offer(arguments: dict[str, Any], lengths: list[int]) -> None:
    st.button("Compare with exact FGW", key="exact.go", on_click=_start, args=(arguments,))
    if sum(length**2 for length in lengths) > 8 * 192**2:
        st.caption(
            f"This group has {sum(lengths):,} tokens, the longest rollout {max(lengths):,}: that "
            "takes minutes. It runs as a job of its own, which goes on when the page is closed."
        )


def _watch(job: Job) -> None:
    def poll() -> None:
        now = jobs.read_job(roots().jobs, job.id)
        if now.state.over:
            st.rerun()
        line, button = st.columns([6, 1], vertical_alignment="center")
        if now.last is None:
            line.progress(0.0, text="Starting …")
        else:
            line.progress(share(now), text=inert(progress_words(now)))
        button.button("Stop", key="exact.stop", on_click=_stop, args=(job.id,))

    with st.container(key="exact.waiting"):
        st.fragment(poll, run_every=1.0)()


def _unfinished(job: Job) -> None:
    if job.error:
        st.warning(inert(job.error, 600))
    else:
        st.info(f"The comparison was {job.state}; nothing of it is kept.")
    st.button("Start again", key="exact.again", on_click=_resume, args=(job.id,))


def _result(check: ExactCheck) -> None:
    with st.container(horizontal=True):
        for sentence, good in verdict(check):
            icon = ":material/check:" if good else ":material/error:"
            st.badge(sentence, icon=icon, color="green" if good else "red")
    st.dataframe(
        exact_frame(check),
        hide_index=True,
        key="exact.table",
        column_config={
            "fast with exact": st.column_config.NumberColumn(format="%.3f"),
            "ceiling: exact with exact": st.column_config.NumberColumn(format="%.3f"),
        },
    )
    st.caption(
        "Spearman rank correlation of the tokens' novelty within each outcome. Time for the group: "
        f"{number(check.seconds_anchored, 2)} s fast, {number(check.seconds_exact, 2)} s exact."
    )
    if not check.converged:
        st.warning(
            "An exact solve reached max_iterations before it came to rest; raise it under Advanced "
            "and compare again."
        )


def _start(arguments: dict[str, Any]) -> None:
    try:
        jobs.start("exact", arguments, roots().jobs)
    except HaraError as error:
        st.session_state[_COMPLAINT] = str(error)


def _resume(job_id: str) -> None:
    try:
        jobs.resume(roots().jobs, job_id)
    except HaraError as error:
        st.session_state[_COMPLAINT] = str(error)


def _stop(job_id: str) -> None:
    # A solve reports only at its end, and nothing is lost by ending it at once.
    Thread(
        target=jobs.stop, args=(roots().jobs, job_id), kwargs={"grace": 0.5}, daemon=True
    ).start()
