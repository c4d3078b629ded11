"""The form that starts runs: which checkpoints, which problems, how to sample, what to keep."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from hara_viz.backend.devices import Device, list_devices
from hara_viz.backend.job_calls import sample_arguments
from hara_viz.backend.problem_preview import REWARD_NAMES, ProblemPreview, preview_problems
from hara_viz.backend.sampling_job import SampleJob
from hara_viz.backend.side_calls import preview_prompt
from hara_viz.errors import HaraError
from hara_viz.ui.finder import find_checkpoints, find_problem_sets, short_name
from hara_viz.ui.job_panel import launch
from hara_viz.ui.roots import Roots, roots
from hara_viz.ui.sample_jobs import Wish, jobs_of, resolve
from hara_viz.ui.sampling_form import sampling_form
from hara_viz.ui.side_work import computed
from hara_viz.ui.words import count, inert

_STATES = ("all", "mixed", "none")
_DTYPES = ("auto", "float32", "bfloat16", "float16")


def start_run() -> None:
    """The form; a press of Start hands the runs to processes of their own."""
    places = roots()
    left, right = st.columns(2)
    with left:
        checkpoints = _checkpoint_box(places)
    with right:
        problems = _problem_box(places)
    about, keep = _about_form(), _keeping_form()
    preview = None if problems is None else _preview(problems, about["reward"], places)
    try:
        wish = Wish(
            checkpoints=checkpoints, problems=problems, sampling=sampling_form(), **about, **keep
        )
        jobs = jobs_of(wish, places)
    except HaraError as error:
        st.warning(inert(str(error)))
        jobs = ()
    if jobs and preview is not None:
        _prompt_box(jobs[0])
    label = "Start" if len(jobs) < 2 else f"Start a series of {len(jobs)} runs"
    ready = bool(jobs) and preview is not None
    if st.button(label, type="primary", disabled=not ready, icon=":material/play_arrow:"):
        launch(jobs)
    if not ready:
        st.caption("Choose a checkpoint and a problem set; nothing is sampled before Start.")


def _prompt_box(job: SampleJob) -> None:
    """The first prompt as this checkpoint will read it, on demand: that needs its tokenizer."""
    arguments = json.dumps(sample_arguments(job))
    wanted = st.toggle(
        "Show the first prompt as the checkpoint reads it",
        key="start.prompt",
        help="Loads the checkpoint's tokenizer and chat template, not its weights",
    )
    if not wanted:
        return
    prompt = computed(
        preview_prompt, arguments, message="Loading the tokenizer …", key="start.prompt_work"
    )
    if prompt is not None:
        how = "its chat template" if prompt.templated else "plain text: it has no chat template"
        st.caption(f"{count(prompt.n_tokens, 'token')}, by {how}")
        st.code(prompt.text, language=None, wrap_lines=True)


def _checkpoint_box(places: Roots) -> list[str]:
    return st.multiselect(
        "Checkpoints",
        [short_name(path, places) for path in find_checkpoints(places)],
        accept_new_options=True,
        key="start.checkpoints",
        placeholder="Choose one or several, or type a hub id",
        help=(
            "Found below the allowed folders; a hub id such as organisation/model works too. "
            "Several make a series, sampled one after the other in this order."
        ),
    )


def _problem_box(places: Roots) -> str | None:
    return st.selectbox(
        "Problem set",
        [short_name(path, places) for path in find_problem_sets(places)],
        index=None,
        accept_new_options=True,
        key="start.problems",
        placeholder="Choose a file: JSONL, JSON, CSV or Parquet",
    )


def _about_form() -> dict[str, Any]:
    reward, limit, name = st.columns([1, 1, 2])
    return {
        "reward": reward.selectbox(
            "Reward", REWARD_NAMES, index=REWARD_NAMES.index("math"), key="start.reward"
        ),
        "limit": int(limit.number_input("First N problems", 0, value=0, help="0 = all of them")),
        "name": name.text_input("Name", placeholder="made from checkpoint and problem set"),
    }


def _keeping_form() -> dict[str, Any]:
    layers, states, device, dtype = st.columns(4)
    return {
        "layers": layers.text_input(
            "Layers", "-1", help="Whose hidden states are kept; negative ones count from the last"
        ),
        "states": states.selectbox(
            "States of", _STATES, help="all groups, groups with both outcomes, or none"
        ),
        "device": _device_box(device),
        "dtype": dtype.selectbox("Precision", _DTYPES),
    }


def _device_box(place: DeltaGenerator) -> str:
    labels = {device.name: device.label for device in _devices()}
    return place.selectbox("Device", list(labels), format_func=lambda name: labels[name])


@st.cache_data(ttl=10, show_spinner=False)
def _devices() -> tuple[Device, ...]:
    return list_devices()


def _preview(problems: str, reward: str, places: Roots) -> ProblemPreview | None:
    """The first problem and how the verifier reads its answer, before anything is sampled."""
    try:
        path = resolve(problems, places)
        preview = _read_preview(str(path), path.stat().st_mtime_ns, reward)
    except HaraError as error:
        st.error(inert(str(error), 600))
        return None
    with st.container(border=True):
        skipped = f", {len(preview.skipped)} skipped" if preview.skipped else ""
        twice = f", {preview.n_duplicates} twice" if preview.n_duplicates else ""
        st.markdown(
            f"**{count(preview.n_problems, 'problem')}**, read as {inert(preview.format)}"
            f"{skipped}{twice}. The first one:"
        )
        for message in preview.first.messages:
            st.text(f"{message.role}: {message.content}")
        gold, understood = st.columns(2)
        gold.caption("Gold answer as written")
        gold.text(preview.first.gold or "none: rollouts stay unscored")
        understood.caption(f"as the reward {reward} reads it")
        understood.text(preview.gold_understood or "–")
        for row in preview.skipped[:3]:
            st.caption(f"Row {row.row} skipped: {inert(row.why)}")
    return preview


@st.cache_data(max_entries=16, show_spinner="Reading the problem set …")
def _read_preview(path: str, changed: int, reward: str) -> ProblemPreview:
    return preview_problems(path, reward=reward)
