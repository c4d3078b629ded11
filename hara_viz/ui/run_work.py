"""What else can be done with the selected run: judge it again, read it with a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from hara_viz.backend.devices import list_devices
from hara_viz.backend.problem_preview import REWARD_NAMES
from hara_viz.backend.runs import Run
from hara_viz.errors import HaraError
from hara_viz.ui import data, state
from hara_viz.ui.finder import find_checkpoints, short_name
from hara_viz.ui.launch import launch, launched
from hara_viz.ui.roots import Roots, roots
from hara_viz.ui.sample_jobs import layers_of, model_of
from hara_viz.ui.words import inert

_STATES = ("all", "mixed", "none")
_OFFERED = "hara.work_offered"


def run_work() -> None:
    """Forms that start a job on the selected run; nothing without one."""
    name = state.current().run
    if name is None:
        return
    run = data.run(name)
    st.subheader("More from this run")
    st.text(name)
    judge, read = st.columns(2)
    with judge.container(border=True):
        _score_form(run)
    with read.container(border=True):
        _read_form(run, roots())


def _score_form(run: Run) -> None:
    st.markdown("**Judge again**")
    held = run.info.reward if run.info.reward in REWARD_NAMES else "math"
    reward = st.selectbox(
        "Reward",
        REWARD_NAMES,
        index=REWARD_NAMES.index(held),
        key="work.reward",
        help="The new verdicts stand beside the old ones and hold from then on; credit follows",
    )
    st.button(
        "Judge all rollouts",
        key="work.score",
        icon=":material/gavel:",
        on_click=launch,
        args=("judge", "score", [{"run": str(run.path), "reward": reward}]),
    )
    launched("judge")


def _read_form(run: Run, places: Roots) -> None:
    st.markdown("**Read with a checkpoint**")
    st.caption(
        "Its own: fills in hidden states and log-probabilities. Another one of the same family: "
        "the log-ratio to it becomes a signal."
    )
    own = run.info.checkpoint
    found = [short_name(path, places) for path in find_checkpoints(places)]
    _offer_own(run, found, places)
    model = st.selectbox(
        "Checkpoint",
        found,
        index=None,
        accept_new_options=True,
        key="work.model",
        placeholder="Choose one, or type a hub id",
        help=None if own is None else f"Sampled by {inert(own.path)}",
    )
    layers, kept, device = st.columns(3)
    wanted = {
        "layers": layers.text_input("Layers", "-1", key="work.layers"),
        "states": kept.selectbox("States of", _STATES, key="work.states"),
        "device": device.selectbox("Device", [d.name for d in list_devices()], key="work.device"),
    }
    try:
        arguments = read_arguments(run, model, wanted, places) if model else None
    except HaraError as error:
        st.warning(inert(str(error)))
        arguments = None
    st.button(
        "Read the run",
        key="work.read",
        icon=":material/visibility:",
        disabled=arguments is None,
        on_click=launch,
        args=("read", "states", [arguments]),
    )
    launched("read")


def _offer_own(run: Run, found: Sequence[str], places: Roots) -> None:
    """Another run brings its own checkpoint, where that is at hand; a choice made then stays.

    Until the page is left: Streamlit then forgets the box, and it is offered anew.
    """
    if "work.model" in st.session_state and st.session_state.get(_OFFERED) == str(run.path):
        return
    st.session_state[_OFFERED] = str(run.path)
    own = run.info.checkpoint
    name = None if own is None else short_name(Path(own.path).resolve(), places)
    st.session_state["work.model"] = name if name in found else None


def read_arguments(run: Run, model: str, wanted: dict[str, str], places: Roots) -> dict[str, Any]:
    """The `states` job that the form describes. Pure.

    Raises:
        HaraError: a field cannot be used, or the checkpoint lies outside the allowed folders.
    """
    return {
        "run": str(run.path),
        "model": model_of(model, places),
        "layers": layers_of(wanted["layers"]),
        "states": wanted["states"],
        "device": wanted["device"],
        "roots": [str(root) for root in places.allowed],
    }
