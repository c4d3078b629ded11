"""Two barycenters as text, side by side: what the policy usually does when right, and when wrong.

Each atom is a row in reading order: where it stands, the nearest real tokens in their context from
several rollouts, and how many rollouts pass there. Between the two lists run the links of their
matching, the stronger the colour the farther the matched atoms are apart: where the outcomes part.

Python side::

    from hara_viz.components.barycenter_text import assets, encode

    text = st.components.v2.component("hara_barycenter_text", html=parts.html, css=parts.css,
                                      js=parts.js)        # once, at module level
    text(key="barycenters", data=encode(frame))           # cache the bytes

A click on a quoted token selects it: address, other views and Python hear of it as from every
component; there are no triggers. For tests, the root (`.hbt`) carries data-ready and data-builds;
atoms are `[data-atom]` in `[data-side]`, quotes `[data-sample][data-token]`.
"""

from pathlib import Path

from hara_viz.components.barycenter_text.frame import (
    AtomText,
    BarycenterFrame,
    Link,
    Quote,
    Side,
    decode,
    encode,
)
from hara_viz.components.bundle import Assets, join_modules

__all__ = [
    "AtomText",
    "BarycenterFrame",
    "Link",
    "Quote",
    "Side",
    "assets",
    "decode",
    "encode",
]

FOLDER = Path(__file__).parent
# In the order in which they build on each other; the last one is the entry.
MODULES = (
    "../token_heatmap/dom",
    "../token_heatmap/address",
    "../shared/envelope",
    "../shared/selection",
    "frame",
    "links",
    "component",
)


def assets() -> Assets:
    """The strings that `st.components.v2.component` takes."""
    styles = (FOLDER.parent / "shared" / "base.css", FOLDER / "component.css")
    return Assets(
        html='<div class="hcv hbt"><svg aria-hidden="true"></svg></div>',
        css="\n".join(path.read_text(encoding="utf-8") for path in styles),
        js=join_modules(FOLDER, MODULES),
    )
