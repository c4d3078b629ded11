"""The selected group's text on one map for each checkpoint that has read it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.analysis.projection import Projection
from hara_viz.backend.aligned_map import AlignedMap, AlignedRequest, map_aligned
from hara_viz.backend.project import StateMap
from hara_viz.backend.state_map import GroupMap, MapRequest
from hara_viz.errors import HaraError
from hara_viz.ui import data
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.map_data import ShownMap
from hara_viz.ui.map_form import MapForm
from hara_viz.ui.series import Reader, SeriesText
from hara_viz.ui.side_work import begun, renew_when_done
from hara_viz.ui.words import inert

_MESSAGE = (
    "AlignedUMAP is at work in a process of its own: half a minute to compile the first time, then "
    "about ten seconds per thousand points. Meanwhile the same points by PCA."
)
_ATOM = ["success", "atom", "x", "y"]


@dataclass(frozen=True, slots=True)
class ShownAligned:
    """The maps on the screen."""

    shown: ShownMap
    """The points, as the page's other parts know them; its places are the writer's."""
    found: AlignedMap
    readers: tuple[Reader, ...]
    """Whose maps they are, in order."""
    first: int
    """Which is shown first: the writer's, else the first."""
    layer: int


def shown_aligned(view: GroupView, form: MapForm, text: SeriesText) -> ShownAligned | None:
    """The maps asked for; PCA while AlignedUMAP is at work; None, with the reason on the page."""
    assert text.layer is not None  # or nobody would have read the text
    request = AlignedRequest(
        run=str(view.run.path),
        stamp=data.run_stamp(view.run_name),
        key=view.key,
        layer=text.layer,
        sources=tuple(reader.fingerprint for reader in text.read),
        projection=replace(form.projection, n_components=2),  # the canvas leads to the texts
        granularity=form.granularity,
        max_points=form.max_points,
    )
    found = None
    if request.projection.method == "umap":
        future = begun(map_aligned, request)
        if future.done():
            found = _result(future)
        else:
            renew_when_done(future, _MESSAGE, key="map")
    if found is None:
        request = replace(request, projection=replace(request.projection, method="pca"))
        try:
            found = _in_process(request)
        except HaraError as error:
            st.warning(inert(f"No map: {error}", 600))
            return None
    return _shown(view, form, text, request, found)


def _shown(
    view: GroupView, form: MapForm, text: SeriesText, request: AlignedRequest, found: AlignedMap
) -> ShownAligned:
    first = next((i for i, reader in enumerate(text.read) if reader.is_writer), 0)
    places = found.maps[first]
    projection = Projection(coordinates=places, method=found.method, explained=())
    states = StateMap(
        points=found.points.assign(x=places[:, 0], y=places[:, 1]),
        projection=projection,
        layer=request.layer,
        n_states=found.n_states,
        quality=found.figures[first].quality if found.figures else None,
        notes=found.notes,
    )
    asked = MapRequest(
        run=request.run,
        stamp=request.stamp,
        key=request.key,
        layer=request.layer,
        projection=request.projection,
        granularity=request.granularity,
        max_points=request.max_points,
    )
    group = GroupMap(request=asked, states=states, atoms=pd.DataFrame(columns=_ATOM))
    name = hashlib.sha256(repr(request).encode()).hexdigest()[:16]
    shown = ShownMap(view, group, form, name)
    return ShownAligned(shown, found, text.read, first, request.layer)


def _result(future: Any) -> AlignedMap | None:
    try:
        return future.result()
    except (HaraError, RuntimeError) as error:
        st.warning(inert(f"No AlignedUMAP: {error}. Shown instead: PCA.", 600))
        return None


@st.cache_resource(max_entries=16, show_spinner="Laying the states out …")
def _in_process(request: AlignedRequest) -> AlignedMap:
    return map_aligned(request)
