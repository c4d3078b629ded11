"""One job on the screen: how far it is, stop and resume, the way to its run."""

from __future__ import annotations

import contextlib
from pathlib import Path
from threading import Thread

import streamlit as st

from hara_viz.backend import jobs
from hara_viz.backend.jobs import Job, JobState
from hara_viz.errors import HaraError
from hara_viz.ui import state
from hara_viz.ui.roots import Roots, roots
from hara_viz.ui.words import inert, number, percent

_STOPPING, _SHOW = "hara.stopping", "hara.show_run"
_COLOURS = {
    JobState.QUEUED: "gray",
    JobState.RUNNING: "blue",
    JobState.DONE: "green",
    JobState.FAILED: "red",
    JobState.STOPPED: "orange",
    JobState.LOST: "red",
}


def job_card(job: Job, place: str = "") -> None:
    """A job in a frame; `place` keeps cards of one job apart that stand on the same page."""
    with st.container(border=True, key=f"{place}job.{job.id}"):
        words, buttons = st.columns([5, 2], vertical_alignment="center")
        with words:
            st.markdown(f":{_COLOURS[job.state]}-badge[{job.state}] **{inert(job.verb)}**")
            st.text(subject(job))
        with buttons.container(horizontal=True, horizontal_alignment="right"):
            _buttons(job, place)
        if job.last is not None:
            st.progress(share(job), text=inert(progress_words(job)))
        if job.error:
            st.error(inert(job.error, 600))


def go_to_shown_run() -> None:
    """Turn the page to the run that a card was asked to show; call it at the top of a page."""
    if st.session_state.pop(_SHOW, False):
        st.switch_page("pages/rollouts.py")


def _buttons(job: Job, place: str) -> None:
    stopping: set[str] = st.session_state.setdefault(_STOPPING, set())
    if not job.state.over:
        st.button(
            "Stopping …" if job.id in stopping else "Stop",
            key=f"{place}stop.{job.id}",
            icon=":material/stop:",
            disabled=job.id in stopping,
            help="At the end of the group in hand; what is finished stays",
            on_click=_stop,
            args=(job.id,),
        )
    else:
        stopping.discard(job.id)
        if job.state is not JobState.DONE:
            st.button(
                "Resume",
                key=f"{place}resume.{job.id}",
                icon=":material/play_arrow:",
                help="Goes on where it stopped",
                on_click=_resume,
                args=(job.id,),
            )
    name = run_of(job, roots())
    if name is not None:
        st.button(
            "Show this run",
            key=f"{place}open.{job.id}",
            icon=":material/segment:",
            on_click=_show,
            args=(name,),
            help="On the Rollouts page; while it grows, the groups that are finished",
        )


def _show(name: str) -> None:
    state.update(runs=(name,))
    st.session_state[_SHOW] = True
    st.rerun()  # all of the page: the card stands in a fragment


def _stop(job_id: str) -> None:
    st.session_state[_STOPPING].add(job_id)
    # It waits until the job has ended, and that may be a group away. The thread touches no page.
    Thread(target=_stop_quietly, args=(roots().jobs, job_id), daemon=True).start()


def _stop_quietly(folder: Path, job_id: str) -> None:
    with contextlib.suppress(HaraError):  # it is over, or gone: the card shows what there is
        jobs.stop(folder, job_id)


def _resume(job_id: str) -> None:
    try:
        jobs.resume(roots().jobs, job_id)
    except HaraError as error:
        st.toast(inert(str(error)), icon=":material/error:")


def subject(job: Job) -> str:
    """What a job works on, in a few words. Pure."""
    names = [
        Path(str(job.arguments[key])).name
        for key in ("model", "problems", "out", "run")
        if job.arguments.get(key)
    ]
    return " · ".join(names) or job.id


def share(job: Job) -> float:
    """How much of the stage is done, in [0, 1]. Pure."""
    assert job.last is not None
    progress = job.last.progress
    if not progress.total:
        return 0.0
    return min(max(progress.done / progress.total, 0.0), 1.0)


def progress_words(job: Job) -> str:
    """Stage, count, rate, time left and figures of a job on one line. Pure."""
    assert job.last is not None
    last, progress = job.last, job.last.progress
    of = "" if progress.total is None else f" of {progress.total}"
    words = [f"{progress.stage}: {progress.done}{of} {progress.unit}"]
    if last.rate and not job.state.over:
        words.append(f"{number(last.rate, 1)} {progress.unit}/s")
    if last.seconds_left is not None and not job.state.over:
        words.append(f"{duration(last.seconds_left)} left")
    for name, value in progress.figures.items():
        is_share = name.endswith("rate") and "per" not in name
        shown = percent(value) if is_share else number(value, 1)
        words.append(f"{name.replace('_', ' ')} {shown}")
    if job.state.over and job.ended and job.started:
        words.append(f"took {duration(job.ended - job.started)}")
    return " · ".join(words)


def duration(seconds: float) -> str:
    """Seconds as a reader wants them. Pure."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def run_of(job: Job, places: Roots) -> str | None:
    """The name of the run that a job works on, if the app shows it and it has begun. Pure."""
    out = job.arguments.get("out") or job.arguments.get("run")
    path = Path(str(out)) if out else None
    if path is None or not (path / "run.json").exists():
        return None
    return places.run_name(path)
