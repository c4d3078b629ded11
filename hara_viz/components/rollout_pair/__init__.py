"""Two rollouts against each other, through the barycenter: texts that answer each other.

Both are coloured by how far their tokens lie from their counterparts: where the two part. Pointing
at a word of either colours the other by where its mass goes.

Python side::

    from hara_viz.components.rollout_pair import PairFrame, assets, encode, pair_side

    pair = st.components.v2.component("hara_rollout_pair", html=parts.html, css=parts.css,
                                      js=parts.js)        # once, at module level
    pair(key="pair", data=encode(PairFrame(first=pair_side(…), second=pair_side(…))))

A click selects the token, as in every component; there are no triggers. For tests, the root
(`.hrp`) carries data-ready, data-builds and data-tokens (the best counterparts of the word pointed
at); cells are `[data-cell]` in `[data-side]`.
"""

from pathlib import Path

from hara_viz.components.bundle import Assets, join_modules
from hara_viz.components.rollout_pair.frame import (
    PairFrame,
    PairSide,
    decode,
    encode,
    pair_side,
)

__all__ = ["Assets", "PairFrame", "PairSide", "assets", "decode", "encode", "pair_side"]

FOLDER = Path(__file__).parent
# In the order in which they build on each other; the last one is the entry.
MODULES = (
    "../token_heatmap/dom",
    "../token_heatmap/colour",
    "../token_heatmap/address",
    "../shared/envelope",
    "../shared/cells",
    "../shared/selection",
    "frame",
    "component",
)


def assets() -> Assets:
    """The strings that `st.components.v2.component` takes."""
    styles = (FOLDER.parent / "shared" / "base.css", FOLDER / "component.css")
    return Assets(
        html='<div class="hcv hrp"></div>',
        css="\n".join(path.read_text(encoding="utf-8") for path in styles),
        js=join_modules(FOLDER, MODULES),
    )
