"""The token heatmap: all rollouts of a group as running text, each token coloured by a signal.

Python side::

    from hara_viz.components.token_heatmap import assets, encode, frame_of

    parts = assets()                                   # html, css, js: three strings
    heatmap = st.components.v2.component("hara_token_heatmap", html=parts.html, css=parts.css,
                                         js=parts.js)  # once, at module level
    data = encode(frame_of(group, credit, special_ids=…, success_threshold=…))   # cache it
    result = heatmap(key="heatmap", data=data, on_pick_change=…, on_view_change=…,
                     on_problem_change=…)

`data` is the bytes of one frame and nothing else (`frame.py` describes it). Equal bytes rebuild
nothing, and the selection never rides in them: it comes by the address or by `hara:select`.

As long as the text is the same, a new frame keeps what the reader had opened, and where they were.

A further signal (a rival, the log-ratio to a reference) is offered in the base frame and comes in
a frame of its own when a reader asks for it (`signal_frame.py`). Mount the carrier beside the
heatmap, with the bytes or None as data: it hands them on by `CustomEvent("hara:signal", {detail:
bytes})` and keeps them in `window.haraSignals`; a heatmap takes what fits its frame.

Triggers, each one run of the script, sent only for a user's own move, ~150 ms after the last one
(a click after 30 ms, when it is on the screen):

    pick     {"sample": int, "token": int | None,     the token pinned; None: unpinned
              "linked": bool}                         whether the address says so already
    view     {"signal": str, "underline": str | None, "granularity": "token"|"step"|"rollout",
              "bounds": [low, high] | None}           the whole view after a change in the toolbar
    problem  +1 | -1                                  N or P was pressed: next or previous problem

Names of fields are those of `hara_viz.ui.selection.Selection`; `sample` is the rollout's number in
its group, `token` its position in that rollout's completion from 0.

Between views of a page (no Python in between), on `window`:

    CustomEvent("hara:select", {detail: {sample?, token?, signal?, underline?, granularity?,
                                         bounds?, source: str, user: bool, reported: bool}})

The heatmap takes over the fields that are present, scrolls a picked token into sight, and never
answers with an event of its own. A user's move in the heatmap is sent as such an event at once,
with source "token_heatmap", user true, and `reported` true: Python hears of it by `pick`, so the
selection bus does not forward it again. `window.haraSelection`, where the bus keeps the last
selection, is read at mounting; else the address is.

The address is replaced at once, under the names of `hara_viz.ui.link`: rollout, token, signal,
under, level, bounds; another rollout makes a history entry, and `popstate` is followed.

For tests, the component's root (`.hth`) carries data-builds, data-content, data-ready,
data-sample, data-token, data-signal; cells are `[data-cell]` spans within `[data-sample]` articles.
A build ends with the performance mark "hth:drawn".
"""

from pathlib import Path

from hara_viz.components.bundle import Assets, join_modules
from hara_viz.components.token_heatmap.build import frame_of
from hara_viz.components.token_heatmap.codec import decode, encode
from hara_viz.components.token_heatmap.domains import shared_domains
from hara_viz.components.token_heatmap.frame import Frame, FrameRow, Kind, signal_values
from hara_viz.components.token_heatmap.signal_frame import (
    SignalFrame,
    content_of,
    decode_signal,
    encode_signal,
)

__all__ = [
    "Assets",
    "Frame",
    "FrameRow",
    "Kind",
    "SignalFrame",
    "assets",
    "carrier_assets",
    "content_of",
    "decode",
    "decode_signal",
    "encode",
    "encode_signal",
    "frame_of",
    "shared_domains",
    "signal_values",
]

FOLDER = Path(__file__).parent
# In the order in which they build on each other; the last one is the entry.
MODULES = (
    "../shared/envelope",
    "frame",
    "signal_frame",
    "narrow",
    "values",
    "colour",
    "layout",
    "search",
    "dom",
    "address",
    "view",
    "look",
    "reporter",
    "toolbar",
    "overview",
    "tooltip",
    "pointer",
    "lines",
    "rollout",
    "sections",
    "sheet",
    "moves",
    "keys",
    "component",
)


CARRIER = ("carrier",)


def carrier_assets() -> Assets:
    """The strings of the component that carries a further signal to the heatmap."""
    return Assets(
        html='<span class="hara-carrier" hidden></span>',
        css=":host { display: none; }",
        js=join_modules(FOLDER, CARRIER),
    )


def assets() -> Assets:
    """The strings that `st.components.v2.component` takes."""
    return Assets(
        html='<div class="hth"></div>',
        css=(FOLDER / "component.css").read_text(encoding="utf-8"),
        js=join_modules(FOLDER, MODULES),
    )
