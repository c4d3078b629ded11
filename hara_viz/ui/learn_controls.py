"""Controls of the Learn page: which step, which rollout, the settings, cases worth a look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.credit import CreditConfig
from hara_viz.errors import ConfigError
from hara_viz.ui import data, state
from hara_viz.ui.fit import group_key
from hara_viz.ui.learn_formulas import case_notes
from hara_viz.ui.learn_view import LearnView
from hara_viz.ui.widgets import show
from hara_viz.ui.words import inert

STEPS = (
    "Group",
    "Uniform GRPO",
    "Distributions",
    "Barycenter and plan",
    "Novelty",
    "Reweighted advantage",
)
_STEP, _PROBLEM = "learn.step", "learn.complaint"
_EPSILONS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
_SUPPORTS = ("auto", 2, 4, 8, 16, 32, 64, 128)
_ANCHORS = (1, 2, 4, 8, 16, 32)


def step_choice() -> int:
    """The step that is shown, 0 … 5; arrow buttons go on and back."""
    st.session_state.setdefault(_STEP, STEPS[0])
    back, steps, on = st.columns([2, 14, 2], vertical_alignment="center")
    here = STEPS.index(st.session_state[_STEP] or STEPS[0])
    back.button("Back", key="learn.back", disabled=here == 0, on_click=_go, args=(here - 1,),
                shortcut="Left", help="The step before")  # fmt: skip
    steps.segmented_control(
        "Step", STEPS, key=_STEP, required=True, label_visibility="collapsed", width="stretch"
    )
    on.button("Next", key="learn.on", disabled=here == len(STEPS) - 1, on_click=_go,
              args=(here + 1,), shortcut="Right", help="The next step")  # fmt: skip
    return here


def _go(step: int) -> None:
    st.session_state[_STEP] = STEPS[step]


def settings(shown: LearnView) -> None:
    """The settings of the method that the pictures hang on; the drawer has them all."""
    config = state.current().credit
    columns = st.columns([2, 1, 1, 1, 1, 1])
    show("learn.rollout", shown.rollout.sample)
    columns[0].selectbox(
        "Rollout",
        shown.view.samples,
        key="learn.rollout",
        format_func=lambda sample: _label(shown, sample),
        on_change=lambda: state.update(sample=st.session_state["learn.rollout"]),
    )
    show("learn.alpha", config.alpha, 0.0, 1.0)
    columns[1].slider("α · structure", 0.0, 1.0, step=0.05, **_widget("alpha"))
    _options(columns[2], "epsilon", "ε · blur", _EPSILONS, config.epsilon)
    _options(columns[3], "n_support", "K · atoms", _SUPPORTS, config.n_support)
    _options(columns[4], "n_anchors", "A · anchors", _ANCHORS, config.n_anchors)
    high = max(2.0, config.strength)
    show("learn.strength", float(config.strength), 0.0, high)
    columns[5].slider("Strength", 0.0, high, step=0.05, **_widget("strength"))
    complaint = st.session_state.pop(_PROBLEM, None)
    if complaint:
        st.warning(inert(complaint))


def cases(shown: LearnView) -> None:
    """Cases in which the method has little or nothing to say: one click shows each."""
    groups = data.run_table(shown.view.run_name).groups
    st.caption("Try what happens when …")
    with st.container(horizontal=True):
        _case("all rewards are equal", *_first(groups, list(groups["degenerate"])))
        lone = [
            n == 1 and of > 2 for n, of in zip(groups["n_success"], groups["n_scored"], strict=True)
        ]
        _case("one stands alone", *_first(groups, lone))
        _button("K exceeds T", lambda: _take_config(n_support=128), True)
        _button("ε is large", lambda: _take_config(epsilon=5.0), True)
        _button("back to the defaults", lambda: state.update(credit=CreditConfig()), True)
    for note in case_notes(shown):
        st.info(note, icon=":material/info:")


def _first(groups: pd.DataFrame, which: Sequence[bool]) -> tuple[dict[str, Any], bool]:
    found = [row for row, wanted in zip(groups.itertuples(), which, strict=True) if wanted]
    if not found:
        return {}, False
    step, problem, group = group_key(found[0])
    return {"global_step": step, "problem": problem, "group": group, "sample": None}, True


def _case(label: str, target: dict[str, Any], known: bool) -> None:
    _button(label, lambda: state.update(**target), known)


def _button(label: str, action: Callable[[], None], known: bool) -> None:
    st.button(
        label,
        key=f"learn.case.{label}",
        on_click=action,
        disabled=not known,
        help=None if known else "This run holds no such group",
    )


def _label(shown: LearnView, sample: int) -> str:
    rollout = shown.found.group.rollouts[shown.view.samples.index(sample)]
    success = shown.view.success(rollout)
    mark = "unscored" if success is None else "right" if success else "wrong"
    return f"#{sample} · {mark} · {len(rollout.completion_ids)} tokens"


def _options(place: Any, name: str, label: str, options: tuple[Any, ...], value: Any) -> None:
    numbers = sorted({o for o in (*options, value) if not isinstance(o, str)})
    words = [o for o in options if isinstance(o, str)]
    show(f"learn.{name}", value)
    place.select_slider(label, [*words, *numbers], **_widget(name))


def _widget(name: str) -> dict[str, Any]:
    return {"key": f"learn.{name}", "on_change": _take, "args": (name,)}


def _take(name: str) -> None:
    _take_config(**{name: st.session_state[f"learn.{name}"]})


def _take_config(**changes: Any) -> None:
    try:
        state.update(credit=replace(state.current().credit, **changes))
    except ConfigError as error:
        st.session_state[_PROBLEM] = str(error)
