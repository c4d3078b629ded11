"""How far the picture can be trusted: figures beside the map, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from hara_viz.analysis.map_quality import MapQuality
from hara_viz.backend.state_map import seed_overlaps
from hara_viz.ui.map_data import ShownMap
from hara_viz.ui.side_work import computed, is_computed
from hara_viz.ui.words import number, percent

_TRUST = (
    "Falls when points are drawn side by side that are far apart among the states. 1: no such "
    "false neighbours; about 0.5: chance."
)
_SEEDS = (
    "How many of a point's nearest neighbours on this map are its nearest when the same points are "
    "drawn with the next two seeds. What changes with the seed is no finding."
)
_DRAWING = "Drawing the same points with two other seeds …"
_WANTED = "hara.map_seeds"


def quality_figures(shown: ShownMap) -> None:
    """Trustworthiness, neighbour overlap and other seeds of a group's map."""
    states = shown.found.states
    map_figures(
        states.quality,
        len(states.points),
        name=shown.name,
        method=states.projection.method,
        seeds=seed_overlaps,
        request=shown.found.request,
    )
    if states.quality is None:
        st.caption("The map has fewer than 4 points: there are no neighbourhoods to compare.")


def map_figures(
    found: MapQuality | None,
    n_points: int,
    *,
    name: str,
    method: str,
    seeds: Callable[..., tuple[float, ...]],
    request: Any,
    among: str = "",
) -> None:
    """The figures of any map in a row; unknown with too few points.

    Args:
        found: its quality.
        n_points: how many are shown.
        name: of the map.
        method: what drew it.
        seeds: the backend function that draws it again, with the request and the seeds.
        request: which map; its `projection.seed` is the map's own seed.
        among: which points were compared, if not all.
    """
    trust, overlap, overlaps, points = st.columns(4, gap="small")
    k = "nearest" if found is None else f"{found.k} nearest"
    kept = f"How many of a point's {k} neighbours among the states are among its {k} here too."
    trust.metric(
        "Trustworthiness",
        "unknown" if found is None else number(found.trustworthiness),
        help=f"{_TRUST} {among}",
    )
    overlap.metric(
        "Neighbours kept",
        "unknown" if found is None else percent(found.overlap),
        help=f"{kept} {among}",
    )
    points.metric("Points", f"{n_points:,}")
    if method != "umap":
        overlaps.metric("Other seeds", "same map", help="PCA has no chance in it.")
    else:
        _seeds(overlaps, name, seeds, request, among)


def _seeds(
    place: DeltaGenerator,
    name: str,
    function: Callable[..., tuple[float, ...]],
    request: Any,
    among: str,
) -> None:
    """How alike two other seeds draw the same points, once it was asked for."""
    seeds = tuple(request.projection.seed + step for step in (1, 2))
    wanted = st.session_state.get(_WANTED) == name
    if not wanted and not is_computed(function, request, seeds):
        with place:
            st.button(
                "Draw it with two other seeds",
                key="map.seeds",
                on_click=_want,
                args=(name,),
                help="Lays the same points out twice more and compares neighbourhoods.",
            )
        return
    with place:
        found = computed(function, request, seeds, message=_DRAWING, key="map.seeds.work")
    if found is not None:
        place.metric("Other seeds", " · ".join(map(percent, found)), help=f"{_SEEDS} {among}")


def _want(name: str) -> None:
    st.session_state[_WANTED] = name
