"""What the map shows: method, points, colours; all further settings under Advanced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from hara_viz.analysis.projection import ProjectionConfig
from hara_viz.analysis.signals import SIGNALS
from hara_viz.ui import state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.map_paths import paths_box
from hara_viz.ui.series import SeriesText, series_text
from hara_viz.ui.widgets import show

OUTCOME, ROLLOUT, POSITION = "outcome", "rollout", "position"
CHECKPOINT = "checkpoint"
GROUP, SAME, CHECKPOINTS, RUN = "group", "same", "checkpoints", "run"
_EXTRA = {OUTCOME: "Outcome", ROLLOUT: "Rollout", POSITION: "Position in the rollout"}
_JOINT = {CHECKPOINT: "Checkpoint", OUTCOME: "Outcome", POSITION: "Position in the rollout"}
_SCOPES = {
    GROUP: "this group",
    SAME: "this group, read by all checkpoints",
    CHECKPOINTS: "this problem, all checkpoints",
    RUN: "all groups of the run",
}
NO_ATOMS, OWN_ATOMS, ALL_ATOMS = "none", "own", "all"
_ATOMS = {NO_ATOMS: "none", OWN_ATOMS: "of the selected group", ALL_ATOMS: "of all groups"}
_COLOUR, _FORM = "hara.map_colour", "hara.map_form"
_METHODS = {"umap": "UMAP", "pca": "PCA"}
_POINTS = {"token": "Tokens", "step": "Reasoning steps"}
_CAPS = (500, 1000, 2000, 3000, 4000)
_DEFAULTS: dict[str, Any] = {
    "scope": GROUP,
    "method": "umap",
    "dimensions": 2,
    "points": "token",
    "metric": "cosine",
    "n_neighbors": 15,
    "min_dist": 0.1,
    "seed": 0,
    "cap": 3000,
    "supervised": False,
    "atoms": OWN_ATOMS,
}


@dataclass(frozen=True, slots=True)
class MapForm:
    """The choices of the form."""

    projection: ProjectionConfig
    granularity: str
    max_points: int
    supervised: bool
    colour: str
    """Name of a signal, or OUTCOME, ROLLOUT, POSITION, CHECKPOINT."""
    scope: str
    """GROUP, SAME, CHECKPOINTS or RUN."""
    atoms: str
    """Whose atoms lie on a map of several groups: NO_ATOMS, OWN_ATOMS or ALL_ATOMS."""
    text: SeriesText | None
    """Who has read the group's text, in the scope SAME."""

    @property
    def is_joint(self) -> bool:
        """Whether points of several groups lie on one map."""
        return _is_joint(self.scope, self.text)


def map_form(view: GroupView) -> MapForm:
    """The form; every change is taken up at once, and kept while other pages are looked at."""
    chosen = _value("scope")
    text = series_text(view) if chosen == SAME else None
    is_joint = _is_joint(chosen, text)
    scope, method, dimensions, points, colour = st.columns([4, 2, 2, 3, 4], gap="small")
    with scope:
        _choice("scope", list(_SCOPES), "Groups", _SCOPES)
    with method:
        _choice("method", list(_METHODS), "Map", _METHODS)
    with dimensions:
        several = chosen != GROUP  # their map is drawn in the plane
        _choice("dimensions", [2, 3], "Dimensions", {2: "plane", 3: "space"}, disabled=several)
    with points:
        _choice("points", list(_POINTS), "Points", _POINTS)
    with colour:
        _joint_colour_box() if is_joint else _colour_box(view)
    more, paths = st.columns([5, 2], gap="small")
    with more.expander("Advanced"):
        _advanced(is_joint=is_joint)
    with paths:
        paths_box(view, disabled=chosen == GROUP and _value("dimensions") == 3)
    value = _value
    return MapForm(
        projection=ProjectionConfig(
            method=value("method"),
            n_components=value("dimensions"),
            metric=value("metric"),
            n_neighbors=int(value("n_neighbors")),
            min_dist=float(value("min_dist")),
            seed=int(value("seed")),
        ),
        granularity=value("points"),
        max_points=int(value("cap")),
        supervised=bool(value("supervised")) and value("method") == "umap" and chosen == GROUP,
        colour=_joint_colour() if is_joint else _colour(view),
        scope=chosen,
        atoms=value("atoms"),
        text=text,
    )


def _is_joint(scope: str, text: SeriesText | None) -> bool:
    return scope in (CHECKPOINTS, RUN) or (text is not None and not text.is_alignable)


def colour_label(name: str) -> str:
    """The name of a colouring as it is shown."""
    return _EXTRA.get(name) or _JOINT.get(name) or SIGNALS[name].label


def _advanced(*, is_joint: bool) -> None:
    off = _value("method") != "umap"
    left, middle, right = st.columns(3, gap="small")
    with left:
        _choice("metric", ["cosine", "euclidean"], "Metric", {})
        if is_joint:
            _choice("atoms", list(_ATOMS), "Barycenter atoms", _ATOMS)
        else:
            _choice("cap", list(_CAPS), "Points at most", {})
    with middle:
        _number("n_neighbors", "Neighbours (n_neighbors)", 2, 200, 1, disabled=off)
        _number("min_dist", "Least distance (min_dist)", 0.0, 1.0, 0.05, disabled=off)
    with right:
        _number("seed", "Seed", 0, 9999, 1)
        key = "map.supervised"
        show(key, _value("supervised"))
        st.checkbox(
            "Let UMAP see the outcomes",
            key=key,
            disabled=off,
            on_change=_keep,
            args=("supervised", key),
            help="A supervised map pulls outcomes apart whether or not the states do.",
        )


def _colour_box(view: GroupView) -> None:
    names = [name for name in SIGNALS if view.values(name) is not None]
    show("map.colour", _colour(view))
    st.selectbox(
        "Colour by",
        [*_EXTRA, *names],
        key="map.colour",
        format_func=colour_label,
        on_change=_take_colour,
    )


def _colour(view: GroupView) -> str:
    """The selected signal colours the map, unless outcome, rollout or position was chosen."""
    extra = st.session_state.get(_COLOUR)
    if extra in _EXTRA:
        return extra
    signal = state.current().signal
    return signal if view.values(signal) is not None else OUTCOME


def _joint_colour_box() -> None:
    """Of a map of many groups; which signals they have is known once they were computed."""
    key = "map.joint_colour"
    show(key, _joint_colour())
    st.selectbox(
        "Colour by",
        [*_JOINT, *SIGNALS],
        key=key,
        format_func=colour_label,
        on_change=_keep,
        args=("joint_colour", key),
    )


def _joint_colour() -> str:
    chosen = st.session_state.get(_FORM, {}).get("joint_colour")
    return chosen or (OUTCOME if _value("scope") == RUN else CHECKPOINT)


def _take_colour() -> None:
    chosen = st.session_state["map.colour"]
    st.session_state[_COLOUR] = chosen if chosen in _EXTRA else None
    if chosen not in _EXTRA:
        state.update(signal=chosen)


def _choice(
    name: str, options: list[Any], label: str, words: dict[Any, str], *, disabled: bool = False
) -> None:
    key = f"map.{name}"
    show(key, _value(name))
    st.selectbox(
        label,
        options,
        key=key,
        format_func=lambda option: words.get(option, str(option)),
        disabled=disabled,
        on_change=_keep,
        args=(name, key),
    )


def _number(name: str, label: str, low: Any, high: Any, step: Any, *, disabled: bool = False):
    key = f"map.{name}"
    show(key, _value(name))
    st.number_input(
        label, low, high, step=step, key=key, disabled=disabled, on_change=_keep, args=(name, key)
    )


def _value(name: str) -> Any:
    return st.session_state.get(_FORM, {}).get(name, _DEFAULTS[name])


def _keep(name: str, key: str) -> None:
    # Streamlit forgets widgets of pages that are not shown; this it keeps.
    st.session_state[_FORM] = {**st.session_state.get(_FORM, {}), name: st.session_state[key]}
