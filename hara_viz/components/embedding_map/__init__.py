"""A map of states: every point is a token or a reasoning step and knows its text.

Python side::

    from hara_viz.components.embedding_map import MapFrame, assets, encode

    parts = assets()
    embedding = st.components.v2.component("hara_embedding_map", html=parts.html, css=parts.css,
                                           js=parts.js)      # once, at module level
    embedding(key="map", data=encode(frame), on_lasso_change=…)   # cache the bytes

`data` is the bytes of one frame and nothing else; equal bytes rebuild nothing, and other colours on
the same points keep the zoom. A click on a point selects its token: the address is replaced, other
views hear `hara:select`, and the selection bus passes it on to Python. A token selected elsewhere
is lit here, whether by such an event or by the address.

Triggers: lasso {"name": the frame's name, "points": [index, …]}, empty when it is taken back;
visit {"name", "point"} for a click on a point of a group that is not the selected one; path
{"name", "sample"} for a click with ctrl (or ⌘) on a point of the selected group: its rollout's way
is to be drawn, or not any more.

A frame with slices holds the same points on several maps. A slider turns from one to the next: the
points wander, axes and camera stay.

For tests, the root (`.hem`) carries data-ready, data-builds, data-sample, data-token, data-lit
(index of the lit point), data-chosen (points in the lasso), data-slice, data-paths and
data-anchors (points that are marked);
`pointPlace(i)` on the root gives where a point is drawn, in pixels of the canvas.
"""

from pathlib import Path

from hara_viz.components.bundle import Assets, join_modules
from hara_viz.components.embedding_map.frame import (
    Colouring,
    MapAnchor,
    MapAtom,
    MapFrame,
    MapRollout,
    MapSlice,
    decode,
    encode,
)

__all__ = [
    "Assets",
    "Colouring",
    "MapAnchor",
    "MapAtom",
    "MapFrame",
    "MapRollout",
    "MapSlice",
    "assets",
    "decode",
    "encode",
]

FOLDER = Path(__file__).parent
# In the order in which they build on each other; the last one is the entry.
MODULES = (
    "../token_heatmap/dom",
    "../token_heatmap/colour",
    "../token_heatmap/address",
    "../shared/envelope",
    "../shared/cells",
    "../shared/selection",
    "space",
    "anchors",
    "frame",
    "colours",
    "density",
    "splat",
    "layer",
    "paths",
    "paint",
    "words",
    "slices",
    "lasso",
    "component",
)


def assets() -> Assets:
    """The strings that `st.components.v2.component` takes."""
    styles = (FOLDER.parent / "shared" / "base.css", FOLDER / "component.css")
    return Assets(
        html='<div class="hcv hem"></div>',
        css="\n".join(path.read_text(encoding="utf-8") for path in styles),
        js=join_modules(FOLDER, MODULES),
    )
