"""The credit drawer: presets, six main controls, all other settings under Advanced.

A change recomputes the group that is on the screen as long as it is small; for a large one the
changes gather in a draft until Apply.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from hara_viz.backend import jobs
from hara_viz.credit import CreditConfig
from hara_viz.errors import ConfigError, HaraError
from hara_viz.ui import data, state
from hara_viz.ui.credit_changes import changes_row
from hara_viz.ui.fields import FieldSpec, field_specs
from hara_viz.ui.presets import CUSTOM, PRESETS, preset_of
from hara_viz.ui.roots import roots
from hara_viz.ui.widgets import show
from hara_viz.ui.words import inert

LIVE_TOKENS = 8 * 512
"""Up to this many tokens in a group, a moved slider recomputes at once."""

ADVANCED = "credit.advanced"
"""The part of the drawer that holds all other settings."""
MAIN = ("signal", "alpha", "n_support", "granularity", "strength", "reference")
_LABELS = {
    "signal": "Signal",
    "alpha": "α · share of structure",
    "n_support": "K · atoms",
    "granularity": "Granularity",
    "strength": "Strength",
    "reference": "Novel against",
    "epsilon": "ε · entropy of the plan",
    "n_anchors": "A · anchors",
    "weight_range": "Weights between",
}
_SLIDERS = {"alpha": (0.0, 1.0, 0.05), "strength": (0.0, 2.0, 0.05)}
_SUPPORTS = ("auto", 4, 8, 16, 32, 64, 128)
_MIX = "mix"
# What only the HarA signal looks at.
_HARA_ONLY = {"alpha", "n_support", "reference", "epsilon", "n_anchors", "anchors", "refine"}
_HARA_ONLY |= {"structure", "location", "solver", "cost_scale", "tolerance", "max_iterations"}
_DRAFT, _COMPLAINT = "hara.credit_draft", "hara.credit_complaint"
_LIVE = "hara.credit_live"


def credit_drawer(n_tokens: int | None) -> None:
    """The drawer for a group of `n_tokens` tokens; None: no group is chosen."""
    live = st.session_state[_LIVE] = n_tokens is None or n_tokens <= LIVE_TOKENS
    if live:
        st.session_state.pop(_DRAFT, None)
    shown = _shown()
    with st.expander(f"Credit · {preset_of(shown)}", expanded=True, key="credit_drawer"):
        _preset_box(shown)
        for name in MAIN:
            _control(field_specs()[name], shown)
        changes_row(shown, _LABELS, _propose)
        # Drawn when opened: two dozen widgets that nobody looks at cost a fifth of each page.
        advanced = st.expander("Advanced", key=ADVANCED, on_change="rerun")
        with advanced:
            for name, spec in field_specs().items():
                if advanced.open and name not in MAIN:
                    _control(spec, shown)
        complaint = st.session_state.pop(_COMPLAINT, None)
        if complaint:
            st.warning(inert(complaint))
        if not live:
            _apply_button(shown, n_tokens or 0)
        if n_tokens:
            _save_button()


def _shown() -> CreditConfig:
    return st.session_state.get(_DRAFT) or state.current().credit


def _propose(config: CreditConfig) -> None:
    """Take up a config: at once, or into the draft if there is one to be applied."""
    if st.session_state.get(_LIVE, True):
        state.update(credit=config)
    else:
        st.session_state[_DRAFT] = config


def _apply_button(shown: CreditConfig, n_tokens: int) -> None:
    st.caption(f"{n_tokens:,} tokens: changes wait until they are applied.")
    st.button(
        "Apply",
        type="primary",
        width="stretch",
        disabled=shown == state.current().credit,
        on_click=lambda: state.update(credit=_shown()),
        key="credit.apply",
    )


def _save_button() -> None:
    st.button(
        "Save for the whole run",
        icon=":material/save:",
        width="stretch",
        key="credit.save",
        help="Compute this credit for every group as a job and keep it in the run; until then it "
        "lives in memory only",
        on_click=_save,
    )


def _save() -> None:
    selection = state.current()
    if selection.run is None:
        return
    run = data.run(selection.run)
    arguments = {
        "run": str(run.path),
        "config": json.loads(data.for_run(selection.credit, run).to_json()),
        "layer": selection.layer,
    }
    try:
        jobs.start("credit", arguments, roots().jobs)
    except HaraError as error:
        st.session_state[_COMPLAINT] = str(error)
        return
    st.toast("Saving as a job: the Runs page shows how far it is.", icon=":material/save:")


def _preset_box(shown: CreditConfig) -> None:
    key, name = "credit.preset", preset_of(shown)
    options = [*PRESETS, *([CUSTOM] if name == CUSTOM else [])]
    show(key, name)
    st.selectbox("Preset", options, key=key, on_change=_take_preset, args=(key,))


def _take_preset(key: str) -> None:
    preset = PRESETS.get(st.session_state[key])
    if preset is not None:
        _propose(preset)


def _control(spec: FieldSpec, config: CreditConfig) -> None:
    """One setting as a widget that shows `config` and proposes what the user makes of it."""
    key = f"credit.{spec.name}"
    value = getattr(config, spec.name)
    common: dict[str, Any] = {
        "label": _LABELS.get(spec.name, spec.name.replace("_", " ")),
        "help": f"{inert(spec.help, 600)} (`{spec.name}`)",
        "key": key,
        "on_change": _take,
        "args": (spec, key),
        "disabled": spec.name in _HARA_ONLY and config.signal != "hara",
    }
    if spec.kind == "levels":
        _level_control(spec, value, common)
    elif spec.kind == "range":
        _range_control(value, common)
    elif spec.kind == "choice":
        show(key, value)
        st.selectbox(options=spec.choices, **common)
    elif spec.kind == "auto_int":
        show(key, value)
        numbers = sorted({n for n in (*_SUPPORTS, value) if isinstance(n, int)})
        st.select_slider(options=["auto", *numbers], **common)
    elif spec.name in _SLIDERS:
        low, high, step = _SLIDERS[spec.name]
        high = max(high, float(value))
        show(key, float(value), low, high)
        st.slider(min_value=low, max_value=high, step=step, **common)
    else:
        show(key, value)
        small = spec.kind == "float" and 0 < abs(value) < 1
        step = (value / 2 if small else 0.1) if spec.kind == "float" else 1
        st.number_input(step=step, format="%g" if spec.kind == "float" else "%d", **common)


def _level_control(spec: FieldSpec, value: Any, common: dict[str, Any]) -> None:
    key = common["key"]
    mixed = isinstance(value, Mapping)
    show(key, _MIX if mixed else value)
    st.segmented_control(options=[*spec.choices, _MIX], required=True, width="stretch", **common)
    if not mixed:
        return
    for column, level in zip(st.columns(len(spec.choices)), spec.choices, strict=True):
        share_key = f"{key}.{level}"
        show(share_key, float(value.get(level, 0.0)))
        column.number_input(
            level, 0.0, step=0.1, format="%g", key=share_key, on_change=_take, args=(spec, key)
        )


def _range_control(value: tuple[float, float], common: dict[str, Any]) -> None:
    key, label = common.pop("key"), common.pop("label")
    for column, end, shown in zip(st.columns(2), ("low", "high"), value, strict=True):
        show(f"{key}.{end}", float(shown))
        name = label if end == "low" else "and"
        column.number_input(name, 0.0, step=0.1, format="%g", key=f"{key}.{end}", **common)


def _take(spec: FieldSpec, key: str) -> None:
    """A widget has moved: propose the config with the new value, or keep the old and say why."""
    try:
        _propose(replace(_shown(), **{spec.name: _value(spec, key)}))
    except ConfigError as error:
        st.session_state[_COMPLAINT] = str(error)


def _value(spec: FieldSpec, key: str) -> Any:
    if spec.kind == "range":
        return st.session_state[f"{key}.low"], st.session_state[f"{key}.high"]
    value = st.session_state[key]
    if spec.kind == "levels" and value == _MIX:
        shares = {level: st.session_state.get(f"{key}.{level}") for level in spec.choices}
        known = {level: share for level, share in shares.items() if share}
        return known or {"token": 0.5, "step": 0.3, "rollout": 0.2}
    return value
