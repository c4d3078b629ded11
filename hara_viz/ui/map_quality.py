"""How far the picture can be trusted: figures beside the map, and what they mean."""

from __future__ import annotations

import streamlit as st

from hara_viz.ui.map_data import ShownMap
from hara_viz.ui.words import number, percent

_TRUST = (
    "Falls when points are drawn side by side that are far apart among the states. 1: no such "
    "false neighbours; about 0.5: chance."
)


def quality_figures(shown: ShownMap) -> None:
    """Trustworthiness and neighbour overlap of the map; unknown with too few points."""
    found = shown.found.states.quality
    trust, overlap, points = st.columns(3, gap="small")
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
    if found is None:
        st.caption("The map has fewer than 4 points: there are no neighbourhoods to compare.")
