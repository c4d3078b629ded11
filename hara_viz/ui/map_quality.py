"""How far the picture can be trusted: figures beside the map, and what they mean."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

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
    """Trustworthiness and neighbour overlap of the map; unknown with too few points."""
    found = shown.found.states.quality
    trust, overlap, overlaps, points = st.columns(4, gap="small")
    k = "nearest" if found is None else f"{found.k} nearest"
    trust.metric(
        "Trustworthiness",
        "unknown" if found is None else number(found.trustworthiness),
        help=_TRUST,
    )
    overlap.metric(
        "Neighbours kept",
        "unknown" if found is None else percent(found.overlap),
        help=f"How many of a point's {k} neighbours among the states are among its {k} here too.",
    )
    points.metric("Points", f"{len(shown.found.states.points):,}")
    _seeds(shown, overlaps)
    if found is None:
        st.caption("The map has fewer than 4 points: there are no neighbourhoods to compare.")


def _seeds(shown: ShownMap, place: DeltaGenerator) -> None:
    """How alike two other seeds draw the same points, once it was asked for."""
    request = shown.found.request
    if shown.found.states.projection.method != "umap":
        place.metric("Other seeds", "same map", help="PCA has no chance in it.")
        return
    seeds = tuple(request.projection.seed + step for step in (1, 2))
    wanted = st.session_state.get(_WANTED) == shown.name
    if not wanted and not is_computed(seed_overlaps, request, seeds):
        with place:
            st.button(
                "Draw it with two other seeds",
                key="map.seeds",
                on_click=_want,
                args=(shown.name,),
                help="Lays the same points out twice more and compares neighbourhoods.",
            )
        return
    with place:
        found = computed(seed_overlaps, request, seeds, message=_DRAWING, key="map.seeds.work")
    if found is not None:
        place.metric("Other seeds", " · ".join(map(percent, found)), help=_SEEDS)


def _want(name: str) -> None:
    st.session_state[_WANTED] = name
