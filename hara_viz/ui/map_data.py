"""The map of the selected group, and what its points are coloured by."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from hara_viz.analysis.map_values import (
    colour_domain,
    outcome_words,
    point_positions,
    point_values,
)
from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.credit import default_layer
from hara_viz.backend.state_map import (
    GroupMap,
    Landmarks,
    MapRequest,
    atom_landmarks,
    map_group,
)
from hara_viz.components.embedding_map import Colouring
from hara_viz.errors import HaraError
from hara_viz.ui import data, state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.map_form import OUTCOME, POSITION, ROLLOUT, MapForm, colour_label
from hara_viz.ui.side_work import begun, renew_when_done
from hara_viz.ui.transport_view import transport_view
from hara_viz.ui.words import inert

_FIRST = (
    "UMAP is being computed in a process of its own; the first map of a session compiles it, which "
    "takes half a minute, later ones take seconds. Meanwhile the same points by PCA."
)


@dataclass(frozen=True, slots=True)
class ShownMap:
    """The map that is on the screen."""

    view: GroupView
    found: GroupMap
    form: MapForm
    name: str
    """Equal names, equal points."""

    @property
    def lengths(self) -> dict[int, int]:
        """Tokens of each rollout, by sample."""
        return {r.sample: len(r.completion_ids) for r in self.view.group.rollouts}

    @property
    def starts(self) -> dict[int, int]:
        """Where each rollout's packed values begin, by sample."""
        return dict(zip(self.view.samples, self.view.offsets, strict=False))


def shown_map(view: GroupView, form: MapForm) -> ShownMap | None:
    """The map asked for; PCA while UMAP is at work; None (said why) if there can be none."""
    layer = state.current().layer
    layer = default_layer(view.run) if layer is None else layer
    if layer is None:
        no_states()
        return None
    transport = transport_view(view)
    marks = None
    if transport is not None:
        marks = atom_landmarks(view.run, transport.transport, form.projection.metric)
    request = MapRequest(
        run=str(view.run.path),
        stamp=data.run_stamp(view.run_name),
        key=view.key,
        layer=layer,
        projection=form.projection,
        granularity=form.granularity,
        max_points=form.max_points,
        supervised=form.supervised,
        credit=view.config.to_json(),
    )
    found = None
    if form.projection.method == "umap":
        future = begun(map_group, request, also=(marks,))
        if future.done():
            found = _result(future)
        else:
            renew_when_done(future, _FIRST, key="map")
    if found is None:
        request = replace(
            request, projection=replace(form.projection, method="pca"), supervised=False
        )
        try:
            found = _in_process(request, marks)
        except HaraError as error:
            st.warning(inert(str(error), 600))
            return None
    name = hashlib.sha256(repr(request).encode()).hexdigest()[:16]
    return ShownMap(view, found, form, name)


def no_states() -> None:
    """Why there is no map, and the command that fills it."""
    st.info("This run keeps no hidden states, and a map is made of them. Fill them in:")
    st.code("hara-viz states RUN --model MODEL", language="bash")


def colouring(shown: ShownMap) -> Colouring:
    """The values of the points and their scale. Pure."""
    points, name = shown.found.states.points, shown.form.colour
    label = colour_label(name)
    if name == OUTCOME:
        words = outcome_words(points["success"].tolist())
        return _categories(label, words, ["right", "wrong", "unscored"])
    if name == ROLLOUT:
        return _categories(label, [str(s) for s in points["sample"]], map(str, shown.view.samples))
    if name == POSITION:
        values = point_positions(points, shown.lengths)
        return Colouring(label=label, kind="sequential", values=values, domain=(0.0, 1.0))
    signal = SIGNALS[name]
    packed = shown.view.values(name)
    assert packed is not None  # the form offers no other
    values = point_values(points, packed, shown.starts, shown.lengths)
    # The heatmap's own domain, so that colours agree: over all tokens, each with its point's value.
    known = packed if shown.form.granularity == "token" else np.repeat(values, points["n_tokens"])
    domain = state.current().bounds or colour_domain(known, signal.signed)
    kind = "signed" if signal.signed else "sequential"
    return Colouring(label=label, kind=kind, values=values, domain=domain)


def _categories(label: str, words: list[str], order: Any) -> Colouring:
    names = tuple(name for name in order if name in set(words))
    place = {name: i for i, name in enumerate(names)}
    values = np.array([place[word] for word in words], float)
    return Colouring(label=label, kind="categories", values=values, categories=names)


def _result(future: Any) -> GroupMap | None:
    try:
        return future.result()
    except (HaraError, RuntimeError) as error:
        st.warning(inert(f"No UMAP: {error}. Shown instead: PCA.", 600))
        return None


@st.cache_resource(max_entries=32, show_spinner="Laying the states out …")
def _in_process(request: MapRequest, _marks: Landmarks | None) -> GroupMap:
    return map_group(request, _marks)
