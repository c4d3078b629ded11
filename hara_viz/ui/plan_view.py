"""The plan of the chosen rollout: matrix, costs and text in one component."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.components.v2 import component

from hara_viz.components.shared.cells import shown_cells
from hara_viz.components.transport_plan import AtomLabel, assets, encode, plan_frame
from hara_viz.types import Rollout
from hara_viz.ui import data, state
from hara_viz.ui.group_header import question_of
from hara_viz.ui.own_tokens import own_tokens
from hara_viz.ui.transport_view import TransportView, mentions_text
from hara_viz.ui.widgets import show
from hara_viz.ui.words import count, inert, number, one_line

KEY = "plan"

_parts = assets()
_plan = component("hara_transport_plan", html=_parts.html, css=_parts.css, js=_parts.js)


def rollout_choice(shown: TransportView) -> None:
    """Which rollout's plan; the same choice as everywhere else. Beside it, the problem."""
    choice, problem = st.columns([2, 5], gap="medium", vertical_alignment="center")
    with problem:
        st.text(one_line(question_of(shown.view.group.rollouts[0]), 240))
    show("plan.rollout", None if shown.rollout is None else shown.rollout.sample)
    choice.selectbox(
        "Rollout",
        shown.view.samples,
        key="plan.rollout",
        format_func=lambda sample: rollout_label(shown, sample),
        on_change=lambda: state.update(sample=st.session_state["plan.rollout"]),
    )


def plan_view(shown: TransportView) -> None:
    """The plan, or why there is none and what to do."""
    if shown.row is None or shown.transport.plan(shown.row) is None or shown.target is None:
        _explain(shown)
        return
    _plan(
        key=KEY,
        data=_frame(
            shown.view.run_name,
            data.run_stamp(shown.view.run_name),
            shown.view.key,
            shown.transport.found.config.to_json(),
            state.current().layer,
            shown.row,
            _shown=shown,
        ),
    )
    st.caption(cost_line(shown))


def cost_line(shown: TransportView) -> str:
    """The rollout's FGW cost and its split, as its tokens' costs add up. Pure."""
    assert shown.row is not None
    found = shown.transport.found
    own = own_tokens(shown.view.group.rollouts[shown.row])
    feature = found.of_row(found.credit.novelty_feature, shown.row).double().numpy()[own]
    structure = found.of_row(found.credit.novelty_structure, shown.row).double().numpy()[own]
    total = float(feature.mean() + structure.mean())
    share = float(structure.mean()) / total if total > 0 else 0.0
    return (
        f"Cost of this plan {number(total, 4)} = feature part {number(float(feature.mean()), 4)} + "
        f"structure part {number(float(structure.mean()), 4)} ({100 * share:.1f} % structure at "
        f"α = {found.config.alpha:g}); mean over {count(int(own.sum()), 'token')}."
    )


def sentence_starts(rollout: Rollout) -> tuple[int, ...]:
    """The first token of each reasoning step; empty: the rollout was not cut. Pure."""
    steps = np.asarray(rollout.reasoning_step or (), np.int64)
    if not len(steps):
        return ()
    return (0, *(np.flatnonzero(np.diff(steps)) + 1).tolist())


def rollout_label(shown: TransportView, sample: int) -> str:
    """A rollout in a list: its number, outcome and length. Pure."""
    rollout = shown.view.group.rollouts[shown.view.samples.index(sample)]
    outcome = {True: "right", False: "wrong", None: "unscored"}[shown.view.success(rollout)]
    return f"{sample} · {outcome} · {count(len(rollout.completion_ids), 'token')}"


def _explain(shown: TransportView) -> None:
    """Why there is no plan. Fixed words and numbers only."""
    view, rollout = shown.view, shown.rollout
    if rollout is None or not own_tokens(rollout).any():
        st.info("This rollout has no tokens of its own, so there is nothing to transport.")
        return
    if view.success(rollout) is None:
        st.info(
            "This rollout is unscored, so it belongs to no outcome and has no barycenter. "
            "`hara-viz score RUN` judges it; or choose another rollout above."
        )
        return
    word = "right" if view.success(rollout) else "wrong"
    others = [
        view.samples[r] for r in range(len(view.group)) if shown.transport.plan(r) is not None
    ]
    st.info(
        f"Rollout {rollout.sample} is the only {word} one of its group: there is no pattern to "
        "compare it with, so it has no plan, its novelty is 0 and its weights are 1. "
        + (
            "Choose another rollout above, or compare it with the other outcome: Advanced → "
            "reference → opposite_outcome in the sidebar."
            if others
            else "Choose a problem with two rollouts of one outcome in the sidebar, or sample a "
            "larger group on the Runs page."
        )
    )
    if others:
        st.button(
            f"Show rollout {others[0]}",
            on_click=lambda: state.update(sample=others[0]),
            key="plan.other",
        )


def atom_labels(shown: TransportView) -> tuple[AtomLabel, ...]:
    """The labels of the plan's columns, in reading order. Pure."""
    assert shown.target is not None
    return tuple(
        AtomLabel(
            atom.index,
            atom.location,
            atom.mass,
            atom.spread,
            mentions_text(shown.view, shown.target, place),
        )
        for place, atom in enumerate(shown.target.atoms)
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _frame(
    run: str,
    stamp: int,
    key: tuple[int | None, str, int],
    config: str,
    layer: int | None,
    row: int,
    _shown: TransportView,
) -> bytes:
    found, rollout = _shown.transport.found, _shown.view.group.rollouts[row]
    plan = _shown.transport.plan(row)
    assert plan is not None
    checkpoint = _shown.view.run.info.checkpoint
    return encode(
        plan_frame(
            sample=rollout.sample,
            success=_shown.view.success(rollout),
            cells=shown_cells(rollout, checkpoint.special_ids if checkpoint else ()),
            atoms=atom_labels(_shown),
            plan=plan.double().numpy(),
            own=own_tokens(rollout),
            feature=found.of_row(found.credit.novelty_feature, row).double().numpy(),
            structure=found.of_row(found.credit.novelty_structure, row).double().numpy(),
            steps=sentence_starts(rollout),
        )
    )


def reference_note(shown: TransportView) -> None:
    """Say what the plan leads to, where it is not the plain case."""
    config = shown.view.config
    if config.signal != "hara":
        st.caption(
            f"The credit signal is {inert(config.signal)}, which needs no transport. The plans "
            "below are HarA's, under the same settings."
        )
    if config.reference == "leave_one_out":
        st.caption(
            "Reference leave_one_out: each rollout's plan leads to the barycenter of the others; "
            "its atoms keep the numbers of the class's."
        )
    elif config.reference == "opposite_outcome":
        st.caption("Reference opposite_outcome: plans lead to the barycenter of the other outcome.")
    elif config.reference == "group":
        st.caption("Reference group: plans lead to one barycenter of all scored rollouts.")
