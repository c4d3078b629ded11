"""The map of many groups: canvas or space, what it is, and the way from a point to its group."""

from __future__ import annotations

import numpy as np
import streamlit as st

from hara_viz.components.embedding_map import MapFrame, MapRollout, encode
from hara_viz.components.shared.cells import shown_cells
from hara_viz.ui import data, state
from hara_viz.ui.bus import heard
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.joint_data import ShownJoint, joint_colouring
from hara_viz.ui.map_form import RUN, SAME
from hara_viz.ui.map_paths import take_path
from hara_viz.ui.map_view import KEY, embedding_map
from hara_viz.ui.words import inert, number, one_line, percent


def joint_view(shown: ShownJoint, view: GroupView) -> None:
    """The points of all groups, and what was done to get there."""
    embedding_map(
        key=KEY,
        data=encode(joint_frame(shown, view)),
        on_visit_change=lambda: take_visit(heard(KEY, "visit"), shown),
        on_path_change=lambda: take_path(heard(KEY, "path"), shown.name),
    )
    st.caption(" ".join(about_joint(shown)))
    _figures(shown)


def joint_frame(shown: ShownJoint, view: GroupView) -> MapFrame:
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
                group=_title(shown, place),
                here=_is_here(shown, place, view),
            )
            for (place, sample), (rollout, success) in rollouts.items()
        ),
        x=points["x"].to_numpy(),
        y=points["y"].to_numpy(),
        row=np.array([rows[int(place), int(sample)] for place, sample in names], np.int64),
        token=points["token"].to_numpy(np.int64),
        span=points["n_tokens"].to_numpy(np.int64),
        colouring=joint_colouring(shown),
        paths=tuple(
            row
            for (place, sample), row in rows.items()
            if sample in state.current().paths and _is_here(shown, place, view)
        ),
    )


def take_visit(said: object, shown: ShownJoint) -> None:
    """Go to the group of the point that was clicked; what makes no sense is dropped."""
    if not isinstance(said, dict) or said.get("name") != shown.name:
        return
    point = said.get("point")
    if type(point) is not int or not 0 <= point < len(shown.found.points):
        return
    line = shown.found.points.iloc[point]
    place = shown.places[int(line["place"])]
    now = state.current().runs
    if place.run_name != now[0]:
        state.update(runs=(place.run_name, *now[1:]))
    state.update(
        global_step=place.key.global_step,
        problem=place.key.problem_id,
        group=place.key.group,
        sample=int(line["sample"]),
        token=int(line["token"]),
    )


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
    said.append("Click a point of another group to go there. Atoms are drawn for single groups.")
    return said


def _figures(shown: ShownJoint) -> None:
    found = shown.found.quality
    trust, kept, points = st.columns(3, gap="small")
    among = f"Compared among {shown.found.n_compared:,} points of the fit, evenly over groups."
    trust.metric(
        "Trustworthiness", "unknown" if found is None else number(found.trustworthiness), help=among
    )
    kept.metric(
        "Neighbours kept", "unknown" if found is None else percent(found.overlap), help=among
    )
    points.metric("Points", f"{len(shown.found.points):,}")


def _title(shown: ShownJoint, place: int) -> str:
    there = shown.places[place]
    if shown.form.scope != RUN:
        return there.checkpoint
    messages = data.group(there.run_name, there.key).rollouts[0].prompt_messages
    prompt = messages[-1].content if messages else there.key.problem_id
    step = "" if there.key.global_step is None else f"{there.checkpoint}, "
    return f"{step}“{one_line(str(prompt), 40)}”"


def _is_here(shown: ShownJoint, place: int, view: GroupView) -> bool:
    there = shown.places[place]
    return there.run_name == view.run_name and there.key == view.key


def _special(run_name: str) -> tuple[int, ...]:
    checkpoint = data.run(run_name).info.checkpoint
    return checkpoint.special_ids if checkpoint else ()
