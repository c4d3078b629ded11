"""The sidebar of every page: which run, which problem, which credit.

On the way it settles the selection: what a link or a vanished file asks for in vain is replaced by
what exists (`fit.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pandas as pd
import streamlit as st

from hara_viz.analysis.figures import RunFigures
from hara_viz.backend.annotations import Kind, annotations_of
from hara_viz.backend.runs import Run
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError
from hara_viz.types import GroupKey
from hara_viz.ui import LOGO, data, state
from hara_viz.ui.drawer import credit_drawer
from hara_viz.ui.fields import DEFAULT
from hara_viz.ui.fit import (
    fit_among,
    fit_group,
    fit_layer,
    fit_paths,
    fit_runs,
    fit_signals,
    fit_token,
)
from hara_viz.ui.missing_states import explain_missing_states
from hara_viz.ui.presets import preset_of
from hara_viz.ui.problem_list import problem_list
from hara_viz.ui.widgets import show
from hara_viz.ui.words import count, inert, number, percent


def sidebar(*, with_credit: bool) -> None:
    """Draw the sidebar and settle what is selected; the credit drawer where the page reads it."""
    st.logo(str(LOGO), size="large")
    names = [summary.name for summary in data.runs() if summary.error is None]
    fitted, gone = fit_runs(state.current(), names)
    state.settle(fitted)
    state.note(gone)  # a run deleted while it is shown must not silently become another
    state.settle(*fit_signals(state.current()))
    run = state.current().run
    if run is None:
        st.caption("No runs yet. The Runs page starts one.")
        return
    _run_box(names)
    try:
        n_tokens = _inside_run(run)
        if with_credit:
            if not data.run(run).layers:
                explain_missing_states(data.run(run))
            credit_drawer(n_tokens)
    except HaraError as error:
        st.error(inert(str(error)))


def run_line(figures: RunFigures) -> str:
    """A run's figures on one line."""
    k = f" · pass@{figures.k} {percent(figures.pass_at_k)}" if figures.k > 1 else ""
    return (
        f"pass@1 {percent(figures.pass_at_1)}{k} · "
        f"{count(figures.n_problems, 'problem')} · {count(figures.n_rollouts, 'rollout')} · "
        f"{number(figures.mean_length, 0)} tokens each"
    )


def selected_key() -> GroupKey | None:
    """The key of the selected group; None: nothing to select."""
    selection = state.current()
    if selection.run is None or selection.problem is None:
        return None
    return GroupKey(selection.global_step, selection.problem, selection.group)


def _inside_run(run: str) -> int:
    """All of the sidebar that looks into the run; gives the tokens of the selected group."""
    table = data.run_table(run)
    layers = data.run(run).layers
    state.settle(*fit_group(state.current(), table.groups))
    state.settle(*fit_layer(state.current(), layers))
    key = selected_key()
    lengths: dict[int, int] = {}
    if key is not None:
        group = data.group(run, key)
        lengths = {rollout.sample: len(rollout.completion_ids) for rollout in group.rollouts}
        state.settle(*fit_among(state.current(), lengths))
        state.settle(*fit_paths(state.current(), lengths))
        state.settle(*fit_token(state.current(), lengths))
    st.caption(run_line(table.figures))
    _step_box(table.groups)
    problem_list(_of_step(table.groups), _bookmarked(data.run(run)), novelty_note(run, table))
    _layer_box(layers)
    return sum(lengths.values())


def novelty_note(run: str, table: data.RunTable) -> str:
    """Whose novelty the list of problems shows, where it is not that of the drawer. Fixed words."""
    if not data.run(run).layers:
        return "The run keeps no hidden states, so there is no novelty."
    kept = set(table.groups["credit"].dropna())
    if not kept:
        return (
            "No credit is kept yet, so this list knows no novelty: “Save for the whole run”, below "
            "the credit settings of the Rollouts page, computes it."
        )
    opened, selection = data.run(run), state.current()
    asked = data.for_run(selection.credit, opened)
    layer = max(opened.layers, default=None) if selection.layer is None else selection.layer
    infos = [info for info in data.kept_credit(run) if info.fingerprint in kept]
    same = [info for info in infos if info.config == asked and info.layer in (None, layer)]
    if len(same) == len(kept):
        return ""
    names = " and ".join(sorted({_plain_name(info.config) for info in infos})) or "unknown"
    return (
        f"Novelty in this list: of the kept credit ({names}), not of the settings "
        "below; “Save for the whole run” takes these over."
    )


def _plain_name(config: CreditConfig) -> str:
    """A config's preset; the threshold of success is the run's own and names none."""
    return preset_of(replace(config, success_threshold=DEFAULT.success_threshold))


def _bookmarked(run: Run) -> frozenset[GroupKey]:
    said = annotations_of(run)
    return frozenset(a.key for a in said if a.kind is Kind.BOOKMARK and a.key is not None)


def _run_box(names: Sequence[str]) -> None:
    show("sidebar.run", state.current().run)
    st.selectbox("Run", names, key="sidebar.run", on_change=_take_run)


def _take_run() -> None:
    state.update(runs=(st.session_state["sidebar.run"], *state.current().runs[1:]))


def _steps(groups: pd.DataFrame) -> list[int]:
    return sorted({int(step) for step in groups["global_step"].dropna()})


def _step_box(groups: pd.DataFrame) -> None:
    steps = _steps(groups)
    if len(steps) > 1:
        show("sidebar.step", state.current().global_step)
        st.select_slider("Training step", steps, key="sidebar.step", on_change=_take_step)


def _take_step() -> None:
    state.update(global_step=st.session_state["sidebar.step"])


def _of_step(groups: pd.DataFrame) -> pd.DataFrame:
    if len(_steps(groups)) < 2:
        return groups
    of_step = groups[groups["global_step"] == state.current().global_step]
    return cast("pd.DataFrame", of_step)


def _layer_box(layers: Sequence[int]) -> None:
    if len(layers) > 1:
        chosen = state.current().layer
        show("sidebar.layer", max(layers) if chosen is None else chosen)
        st.selectbox("Layer of the states", layers, key="sidebar.layer", on_change=_take_layer)


def _take_layer() -> None:
    state.update(layer=st.session_state["sidebar.layer"])
