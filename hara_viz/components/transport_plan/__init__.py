"""The transport plan of one rollout: matrix, costs and running text in one view.

Time runs to the right, atoms stand in reading order from top to bottom, each labelled with the
words that stand for it; below, on the same axis, the cost of each token in its two parts, and then
the text. Pointing at an atom shows in the text where it comes from, pointing at a word shows in
the matrix where it goes. Ribbons show the same for a span: at first the sentence that costs most,
then the one of the selected token, or what is dragged over in the text.

Python side::

    from hara_viz.components.transport_plan import assets, encode, plan_frame

    parts = assets()
    plan = st.components.v2.component("hara_transport_plan", html=parts.html, css=parts.css,
                                      js=parts.js)        # once, at module level
    plan(key="plan", data=encode(plan_frame(…)))          # cache the bytes

`data` is the bytes of one frame and nothing else; equal bytes rebuild nothing. A click on a token
(in the matrix, the costs or the text) selects it: the address is replaced, other views hear
`hara:select`, and the selection bus passes it on to Python. The component has no triggers.

For tests, the root (`.htp`) carries data-ready, data-builds, data-sample, data-token, data-atom and
data-span ("from-to"); cells of the text are `[data-cell]`.
"""

from pathlib import Path

from hara_viz.components.bundle import Assets, join_modules
from hara_viz.components.transport_plan.frame import (
    AtomLabel,
    PlanFrame,
    decode,
    encode,
    plan_frame,
)

__all__ = ["Assets", "AtomLabel", "PlanFrame", "assets", "decode", "encode", "plan_frame"]

FOLDER = Path(__file__).parent
# In the order in which they build on each other; the last one is the entry.
MODULES = (
    "../token_heatmap/dom",
    "../token_heatmap/colour",
    "../token_heatmap/address",
    "../shared/envelope",
    "../shared/cells",
    "../shared/selection",
    "../shared/view",
    "frame",
    "span",
    "matrix",
    "paint",
    "ribbons",
    "theme",
    "pointing",
    "running",
    "tooltip",
    "component",
)


def assets() -> Assets:
    """The strings that `st.components.v2.component` takes."""
    styles = (FOLDER.parent / "shared" / "base.css", FOLDER / "component.css")
    return Assets(
        html='<div class="hcv htp"></div>',
        css="\n".join(path.read_text(encoding="utf-8") for path in styles),
        js=join_modules(FOLDER, MODULES),
    )
