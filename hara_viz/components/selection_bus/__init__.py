"""The selection bus: the app's selection to every view of the page, and users' moves to Python.

It draws nothing. Mount it once, outside of fragments::

    bus = st.components.v2.component("hara_selection_bus", html=parts.html, css=parts.css,
                                     js=parts.js)
    bus(key="bus", data={"problem": …, "sample": …, "token": …, "signal": …, "underline": …,
                         "granularity": …, "bounds": …}, on_move_change=…)

`data` is JSON: any fields of the selection, None for none. When it changes, the page hears

    CustomEvent("hara:select", {detail: {...data, source: "python", user: false}})

on `window`, unless it only repeats a move that the user made here and that Python now answers (an
old answer must not take a fast user back). `window.haraSelection` keeps what was said last, for
views that mount later.

A user's own move in a view (detail.user true) reaches Python as trigger `move`, a dict of the moved
fields, ~150 ms after the last one; views that report themselves (detail.reported true, as the token
heatmap does) are not reported twice.

It also keeps the history straight: turning a page makes one entry (`history.js`), and a link that
is followed within 0.3 s of a move waits until Python has heard of the move.
"""

from pathlib import Path

from hara_viz.components.bundle import Assets, join_modules

__all__ = ["Assets", "assets"]

FOLDER = Path(__file__).parent


def assets() -> Assets:
    """The strings that `st.components.v2.component` takes."""
    return Assets(
        html='<span class="hara-bus" hidden></span>',
        css=":host { display: none; }",
        js=join_modules(FOLDER, ["history", "component"]),
    )
