"""The form that starts runs: which checkpoints, which problems, how to sample, what to keep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from hara_viz.backend.devices import Device, list_devices
from hara_viz.backend.job_calls import sample_arguments
from hara_viz.backend.problem_preview import REWARD_NAMES
from hara_viz.backend.sampling_job import SampleJob
from hara_viz.backend.side_calls import preview_prompt
from hara_viz.errors import HaraError
from hara_viz.ui.finder import find_checkpoints, find_problem_sets, short_name
from hara_viz.ui.launch import launch, launched
from hara_viz.ui.problem_look import ProblemLook, look_at_problems, show_first_problem
from hara_viz.ui.roots import Roots, roots
from hara_viz.ui.sample_jobs import Wish, jobs_of, model_of
from hara_viz.ui.sampling_form import sampling_form
from hara_viz.ui.side_work import computed
from hara_viz.ui.words import count, inert

_PLACE = "start"
_STATES = ("all", "mixed", "none")
_DTYPES = ("auto", "float32", "bfloat16", "float16")
_ADVISED = "hara.start_advised"


def start_run() -> None:
    """The form; a press of Start hands the runs to processes of their own."""
    places = roots()
    left, right = st.columns(2)
    with left:
        checkpoints = _checkpoint_box(places)
    with right:
        problems = _problem_box(places)
        look = None if problems is None else look_at_problems(problems, _columns(), places)
    about, keep = _about_form(look), _keeping_form()
    gold = look is not None and show_first_problem(look, about["reward"])
    try:
        wish = Wish(
            checkpoints=checkpoints, problems=problems, sampling=sampling_form(), **about, **keep
        )
        jobs = jobs_of(wish, places)
    except HaraError as error:
        st.warning(inert(str(error), 600))
        jobs = ()
    if not gold:
        jobs = ()
    for first in jobs[:1]:
        _prompt_box(first)
    _start(jobs, look)
    if not jobs:
        st.caption(_what_is_missing(checkpoints, problems))
    launched(_PLACE)


def _start(jobs: Sequence[SampleJob], look: ProblemLook | None) -> None:
    """The button, how much it asks for, and where the runs will lie."""
    button, words = st.columns([1, 3], vertical_alignment="center")
    button.button(
        "Start" if len(jobs) < 2 else f"Start a series of {len(jobs)} runs",
        type="primary",
        disabled=not jobs,
        icon=":material/play_arrow:",
        key="start.start",
        width="stretch",
        on_click=_launch,
        args=(jobs,),
    )
    if jobs and look is not None:
        with words:
            st.caption(inert(size_words(jobs, look.preview.n_problems), 400))


def size_words(jobs: Sequence[SampleJob], n_problems: int) -> str:
    """How much is sampled, and where it goes. Pure."""
    first = jobs[0]
    taken = n_problems if first.limit is None else min(first.limit, n_problems)
    of = "" if taken == n_problems else f" of {n_problems}"
    group = first.sampling.group_size
    each = f"{taken}{of} problems × {group} = {count(taken * group, 'rollout')}"
    out = first.out if len(jobs) == 1 else first.out.parent
    runs = "" if len(jobs) == 1 else f" for each of {len(jobs)} checkpoints"
    return f"{each} of at most {first.sampling.max_new_tokens} tokens{runs}, kept in {out}"


def _launch(jobs: Sequence[SampleJob]) -> None:
    launch(_PLACE, "sample", [sample_arguments(job) for job in jobs])


def _what_is_missing(checkpoints: Sequence[str], problems: str | None) -> str:
    if not checkpoints and problems is None:
        return "Choose a checkpoint and a problem set above; nothing is sampled before Start."
    if not checkpoints:
        return "Choose a checkpoint above (top left); nothing is sampled before Start."
    if problems is None:
        return "Choose a problem set above (top right); nothing is sampled before Start."
    return "Start waits until what is said above is put right."


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
    found = [short_name(path, places) for path in find_checkpoints(places)]
    chosen = st.multiselect(
        "Checkpoints",
        found,
        accept_new_options=True,
        key="start.checkpoints",
        placeholder="Choose one or several, or type a path or hub id",
        help=(
            "Found below the allowed folders; a hub id such as organisation/model works too. "
            "Several make a series, sampled one after the other in this order."
        ),
    )
    if not found and not chosen:
        st.caption("None lies below the folders that this app may use (`--root DIR` adds one).")
    for typed in chosen:
        if typed not in found:
            _where_it_leads(typed, places)
    return chosen


def _where_it_leads(typed: str, places: Roots) -> None:
    """What a typed checkpoint stands for; what is wrong with it is said at the button."""
    try:
        model = model_of(typed, places)
    except HaraError:
        return
    if model == typed:
        st.caption(f"{inert(typed)}: no folder here, so it is fetched from the hub (or its cache).")
    else:
        st.caption(f"{inert(typed)} is {inert(model)}")


def _problem_box(places: Roots) -> str | None:
    return st.selectbox(
        "Problem set",
        [short_name(path, places) for path in find_problem_sets(places)],
        index=None,
        accept_new_options=True,
        key="start.problems",
        placeholder="Choose or type a file: JSONL, JSON, CSV or Parquet",
    )


def _columns() -> str:
    return st.session_state.get("start.columns") or ""


def _about_form(look: ProblemLook | None) -> dict[str, Any]:
    reward, limit, name, columns = st.columns([3, 3, 4, 4])
    _take_advice(look)
    chosen = {
        "reward": reward.selectbox(
            "Reward", REWARD_NAMES, key="start.reward", help="The verifier that judges each rollout"
        ),
        "limit": limit.number_input(
            "First N problems",
            1,
            value=None,
            step=1,
            placeholder="all",
            key="start.limit",
            help="Only the first N of the set, at least 1; empty: all of them",
        ),
        "name": name.text_input(
            "Name", key="start.name", placeholder="from checkpoint and problems"
        ),
        "columns": columns.text_input(
            "Columns",
            key="start.columns",
            placeholder="found by the layout",
            help="Only for a file of no known layout: `question=COLUMN,gold=COLUMN`",
        ),
    }
    if look is not None:
        advice = look.preview.advice
        taken = "" if advice.reward == chosen["reward"] else f" ({chosen['reward']} is chosen)"
        st.caption(f"Reward: {advice.reward} {advice.why}{taken}.")
    return chosen


def _take_advice(look: ProblemLook | None) -> None:
    """Another problem set brings the reward that fits it; a choice made after that stays.

    Until the page is left: Streamlit then forgets the form, and the same set brings it anew.
    """
    if "start.reward" not in st.session_state:
        st.session_state.pop(_ADVISED, None)
    if look is not None and st.session_state.get(_ADVISED) != look.path:
        st.session_state[_ADVISED] = look.path
        st.session_state["start.reward"] = look.preview.advice.reward
    st.session_state.setdefault("start.reward", "math")


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
