"""The map of many groups: canvas or space, what it is, and the way from a point to its group."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import streamlit as st

from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.joint_marks import JointAtoms
from hara_viz.backend.joint_seeds import joint_seed_overlaps
from hara_viz.backend.joint_signals import JointSignals
from hara_viz.components.embedding_map import MapFrame, MapRollout, encode
from hara_viz.components.shared.cells import shown_cells
from hara_viz.ui import data, state
from hara_viz.ui.bus import heard
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.joint_data import ShownJoint, group_title, joint_colouring, move_to
from hara_viz.ui.joint_layers import (
    about_atoms,
    joint_credit,
    map_atoms,
    shown_atoms,
    shown_signals,
)
from hara_viz.ui.lasso import MapTexts, is_lassoed, take_lasso, texts_table
from hara_viz.ui.map_form import RUN, SAME
from hara_viz.ui.map_paths import take_path
from hara_viz.ui.map_quality import map_figures
from hara_viz.ui.map_view import KEY, embedding_map
from hara_viz.ui.words import inert


def joint_view(shown: ShownJoint, view: GroupView) -> None:
    """The points of all groups, and what was done to get there."""
    signals, atoms = shown_signals(shown), shown_atoms(shown, view)
    embedding_map(
        key=KEY,
        data=_bytes(_identity(shown, view, signals, atoms), shown, view, signals, atoms),
        on_visit_change=lambda: take_visit(heard(KEY, "visit"), shown),
        on_lasso_change=lambda: take_lasso(heard(KEY, "lasso")),
        on_path_change=lambda: take_path(heard(KEY, "path"), shown.name),
    )
    said = [*about_joint(shown), *about_atoms(shown, atoms), *about_signals(shown, signals)]
    st.caption(" ".join(said))
    found = shown.found
    map_figures(
        found.quality,
        len(found.points),
        name=shown.name,
        method=found.projection.method,
        seeds=joint_seed_overlaps,
        request=shown.request,
        among=f"Compared among {found.n_compared:,} points of the fit, evenly over groups.",
    )


def joint_frame(
    shown: ShownJoint, view: GroupView, signals: JointSignals | None, atoms: JointAtoms | None
) -> MapFrame:
    """The frame of a joint map; the rollouts of the selected group are the ones that are here."""
    points = shown.found.points
    rollouts = shown.rollouts()
    rows = {name: row for row, name in enumerate(rollouts)}
    special = {n: _special(place.run_name) for n, place in enumerate(shown.places)}
    names = zip(points["place"], points["sample"], strict=True)
    return MapFrame(
        name=shown.name,
        rollouts=tuple(
            MapRollout(
                sample,
                success,
                shown_cells(rollout, special[place]),
                group=group_title(shown, place),
                here=shown.is_here(place, view),
            )
            for (place, sample), (rollout, success) in rollouts.items()
        ),
        x=points["x"].to_numpy(),
        y=points["y"].to_numpy(),
        row=np.array([rows[int(place), int(sample)] for place, sample in names], np.int64),
        token=points["token"].to_numpy(np.int64),
        span=points["n_tokens"].to_numpy(np.int64),
        colouring=joint_colouring(shown, signals),
        atoms=map_atoms(shown, atoms),
        paths=tuple(
            row
            for (place, sample), row in rows.items()
            if sample in state.current().paths and shown.is_here(place, view)
        ),
    )


def joint_lasso(shown: ShownJoint, view: GroupView) -> None:
    """The texts in the lasso; nothing while there is none."""
    if is_lassoed(shown.name):  # telling every point's text takes a while
        texts_table(joint_texts(shown, view))


def joint_texts(shown: ShownJoint, view: GroupView) -> MapTexts:
    """The points as a lasso tells of them."""
    points = shown.found.points
    places = sorted(set(points["place"].tolist()))
    rollouts = shown.rollouts()
    titles = {place: group_title(shown, place) for place in places}
    return MapTexts(
        name=shown.name,
        points=points,
        keys=list(zip(points["place"].tolist(), points["sample"].tolist(), strict=True)),
        rollouts=rollouts,
        by_step=shown.form.granularity == "step",
        groups={name: titles[name[0]] for name in rollouts},
        here=lambda key: shown.is_here(key[0], view),
        target=lambda point: move_to(shown, point),
        view=view,
    )


def take_visit(said: object, shown: ShownJoint) -> None:
    """Go to the group of the point that was clicked; what makes no sense is dropped."""
    if not isinstance(said, dict) or said.get("name") != shown.name:
        return
    point = said.get("point")
    if type(point) is int and 0 <= point < len(shown.found.points):
        state.update(**move_to(shown, point))


def about_signals(shown: ShownJoint, signals: JointSignals | None) -> list[str]:
    """For how many points a signal is unknown, and why. Pure."""
    name = shown.form.colour
    if signals is None or name not in SIGNALS:
        return []
    unknown = int(np.isnan(signals.values[name]).sum())
    said = [f"{SIGNALS[name].label} is unknown for {unknown:,} points."] if unknown else []
    if unknown == len(signals.values[name]) and SIGNALS[name].missing:
        said.append(inert(SIGNALS[name].missing, 300))
    if signals.n_refused:
        said.append(
            f"The credit of {signals.n_refused} groups cannot be computed as it is set; their "
            "novelty and weights are unknown."
        )
    return said


def about_joint(shown: ShownJoint) -> list[str]:
    """Sentences on a joint map: one fit for all, points left out, how checkpoints compare. Pure."""
    found = shown.found
    what = "tokens" if shown.form.granularity == "token" else "reasoning steps (mean states)"
    n_groups = len(set(found.points["place"].tolist()))
    said = [
        f"{found.projection.method.upper()} of {len(found.points):,} {what} of {n_groups} groups, "
        f"layer {found.layer}: a joint fit, one map for all."
    ]
    if shown.form.scope != RUN:
        why = (
            "its checkpoints have not read the same text"
            if shown.form.scope == SAME
            else "each checkpoint wrote its own rollouts"
        )
        said.append(
            f"Not aligned, for {why}: there are no same points to tie to each other. "
            "“this group, read by all checkpoints” aligns them."
        )
    if len({p.checkpoint for p in shown.places}) > 1:
        said.append(
            "States of different checkpoints are compared by their raw coordinates: a drift of the "
            "basis from one checkpoint to the next shows as distance."
        )
    said += [f"{inert(note)}." for note in found.notes]
    said.append("Click a point of another group to go there.")
    return said


def _identity(
    shown: ShownJoint,
    view: GroupView,
    signals: JointSignals | None,
    atoms: JointAtoms | None,
) -> tuple[Hashable, ...]:
    """Equal ones, equal frames."""
    selection = state.current()
    credit = joint_credit(shown) if signals is not None or atoms is not None else None
    here = (view.run_name, view.key, selection.paths)
    return (shown.name, shown.form.colour, signals is None, shown.form.atoms, atoms is None,
            credit, selection.bounds, here)  # fmt: skip


@st.cache_resource(max_entries=8, show_spinner=False)
def _bytes(
    identity: tuple[Hashable, ...],
    _shown: ShownJoint,
    _view: GroupView,
    _signals: JointSignals | None,
    _atoms: JointAtoms | None,
) -> bytes:
    return encode(joint_frame(_shown, _view, _signals, _atoms))


def _special(run_name: str) -> tuple[int, ...]:
    checkpoint = data.run(run_name).info.checkpoint
    return checkpoint.special_ids if checkpoint else ()
