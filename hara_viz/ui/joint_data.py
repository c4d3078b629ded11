"""Maps of many groups: which groups, the map from the side process, its colours and texts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from hara_viz.analysis.map_values import colour_domain, outcome_words
from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.credit import default_layer
from hara_viz.backend.joint_map import JointMap, JointRequest, MapPlace, map_jointly
from hara_viz.backend.joint_signals import JointSignals
from hara_viz.components.embedding_map import Colouring
from hara_viz.errors import HaraError
from hara_viz.types import GroupKey, Rollout, is_success
from hara_viz.ui import data, state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.map_data import no_states
from hara_viz.ui.map_form import CHECKPOINT, OUTCOME, RUN, MapForm, colour_label
from hara_viz.ui.series import checkpoint_labels, series_runs
from hara_viz.ui.side_work import begun, renew_when_done
from hara_viz.ui.words import inert, one_line

_MESSAGE = (
    "One map of all these groups is being computed in a process of its own. UMAP of 20,000 points "
    "takes minutes."
)
_MOST_COLOURS = 12


@dataclass(frozen=True, slots=True)
class JointPlace:
    """A group on a joint map, as the app names it."""

    run_name: str
    key: GroupKey
    checkpoint: str
    """What its checkpoint is called; hostile until escaped."""
    step: int | None


@dataclass(frozen=True, slots=True)
class ShownJoint:
    """The joint map on the screen."""

    places: tuple[JointPlace, ...]
    found: JointMap
    form: MapForm
    name: str
    """Equal names, equal points."""
    request: JointRequest
    """What it answers."""

    def is_here(self, place: int, view: GroupView) -> bool:
        """Whether a place is the selected group."""
        there = self.places[place]
        return there.run_name == view.run_name and there.key == view.key

    def rollouts(self) -> dict[tuple[int, int], tuple[Rollout, bool | None]]:
        """By place and sample, the rollouts that have points, with their outcome."""
        shown: dict[tuple[int, int], tuple[Rollout, bool | None]] = {}
        for number in sorted(set(self.found.points["place"].tolist())):
            place = self.places[number]
            run = data.run(place.run_name)
            for rollout in data.group(place.run_name, place.key).rollouts:
                success = is_success(rollout.reward, run.info.success_threshold)
                shown[number, rollout.sample] = (rollout, success)
        return shown


def shown_joint(view: GroupView, form: MapForm) -> ShownJoint | None:
    """The joint map that was asked for; None, with the reason or the progress on the page."""
    layer = state.current().layer
    layer = default_layer(view.run) if layer is None else layer
    if layer is None:
        no_states()
        return None
    places = joint_places(view, form.scope)
    request = JointRequest(
        places=tuple(_map_place(place) for place in places),
        layer=layer,
        projection=replace(form.projection, n_components=2),  # the canvas leads to the texts
        granularity=form.granularity,
    )
    future = begun(map_jointly, request)
    if not future.done():
        renew_when_done(future, _MESSAGE, key="map")
        return None
    try:
        found = future.result()
    except (HaraError, RuntimeError) as error:
        st.warning(inert(f"No map: {error}", 600))
        return None
    name = hashlib.sha256(repr(request).encode()).hexdigest()[:16]
    return ShownJoint(places, found, form, name, request)


def joint_places(view: GroupView, scope: str) -> tuple[JointPlace, ...]:
    """The groups of a scope, by training step; the same whichever of them is selected."""
    is_run = scope == RUN
    names = (view.run_name,) if is_run else series_runs(view.run_name, data.runs())
    labels = checkpoint_labels({name: data.run(name).info for name in names})
    problem = None if is_run else view.key.problem_id
    found = [place for name in names for place in _places(name, labels[name], problem)]
    return tuple(sorted(found, key=lambda p: (p.step is not None, p.step or 0, p.run_name)))


def joint_colouring(shown: ShownJoint, signals: JointSignals | None) -> Colouring:
    """The values of the points and their scale; of a signal that is on its way the outcomes."""
    points, name = shown.found.points, shown.form.colour
    numbers = points["place"].tolist()
    if name in SIGNALS and signals is not None:
        return _signal(name, signals)
    if name == OUTCOME or name in SIGNALS:
        words = outcome_words(points["success"].tolist())
        return _categories(colour_label(OUTCOME), words, ("right", "wrong", "unscored"))
    label = colour_label(name)
    if name == CHECKPOINT:
        order = tuple(dict.fromkeys(place.checkpoint for place in shown.places))
        steps = [shown.places[number].step for number in numbers]
        if len(order) > _MOST_COLOURS and None not in steps:
            values = np.array(steps, float)
            domain = (float(values.min()), float(values.max()) + 1e-9)
            return Colouring(label="Training step", kind="sequential", values=values, domain=domain)
        return _categories(label, [shown.places[number].checkpoint for number in numbers], order)
    lengths = {name: len(r.completion_ids) for name, (r, _) in shown.rollouts().items()}
    last = [max(lengths[p, s] - 1, 1) for p, s in zip(numbers, points["sample"], strict=True)]
    values = points["token"].to_numpy(float) / np.array(last, float)
    return Colouring(label=label, kind="sequential", values=values, domain=(0.0, 1.0))


def _signal(name: str, signals: JointSignals) -> Colouring:
    values = signals.values[name].astype(float)
    domain = state.current().bounds or colour_domain(values, SIGNALS[name].signed)
    kind = "signed" if SIGNALS[name].signed else "sequential"
    return Colouring(label=SIGNALS[name].label, kind=kind, values=values, domain=domain)


def group_title(shown: ShownJoint, place: int) -> str:
    """What a group is called on the map: its checkpoint, or its question; hostile."""
    there = shown.places[place]
    if shown.form.scope != RUN:
        return there.checkpoint
    messages = data.group(there.run_name, there.key).rollouts[0].prompt_messages
    prompt = messages[-1].content if messages else there.key.problem_id
    step = "" if there.key.global_step is None else f"{there.checkpoint}, "
    return f"{step}“{one_line(str(prompt), 40)}”"


def move_to(shown: ShownJoint, point: int) -> dict[str, object]:
    """The move that selects a point's token, and with it its group and run."""
    line = shown.found.points.iloc[point]
    place = shown.places[int(line["place"])]
    now = state.current().runs
    runs = now if place.run_name == now[0] else (place.run_name, *now[1:])
    return {
        "runs": runs,
        "global_step": place.key.global_step,
        "problem": place.key.problem_id,
        "group": place.key.group,
        "sample": int(line["sample"]),
        "token": int(line["token"]),
    }


def _categories(label: str, words: list[str], order: Sequence[str]) -> Colouring:
    names = tuple(name for name in order if name in set(words))
    index = {name: i for i, name in enumerate(names)}
    values = np.array([index[word] for word in words], float)
    return Colouring(label=label, kind="categories", values=values, categories=names)


def _map_place(place: JointPlace) -> MapPlace:
    key = (place.key.global_step, place.key.problem_id, place.key.group)
    return MapPlace(str(data.run(place.run_name).path), data.run_stamp(place.run_name), key)


def _places(run_name: str, label: str, problem_id: str | None) -> list[JointPlace]:
    run = data.run(run_name)
    found: list[JointPlace] = []
    for key in run.keys():  # noqa: SIM118 - a method of a run, no mapping
        if problem_id not in (None, key.problem_id):
            continue
        own = key.global_step  # of a training run, whose groups have steps of their own
        checkpoint = label if own is None else f"step {own}"
        step = run.info.global_step if own is None else own
        found.append(JointPlace(run_name, key, checkpoint, step))
    return found
