"""The keyboard map of every page, on `?`; and the lecture view of a page that has one, on `f`.

It draws nothing until it is asked. Mount it once per page, outside of fragments::

    keys = st.components.v2.component("hara_key_map", html=parts.html, css=parts.css, js=parts.js)
    keys(key="key-map", data=map_of("Learn"))

`data` is JSON: `{page, sections: [[heading, [[key, meaning], …]], …], pages, lecture}`. `?` opens
the map as a modal dialog in place of any map that a component of the page has for itself: this one
lists all keys that work here, and what the other pages show. The lecture view fills the screen and
hides the sidebar and the navigation (the class `hara-lecture` on the root element; `page.css` says
the rest).
"""

from pathlib import Path
from typing import Any

from hara_viz.components.bundle import Assets, join_modules
from hara_viz.components.key_map.keys import LECTURES, PAGE_KEYS, PAGES

__all__ = ["Assets", "assets", "map_of"]

FOLDER = Path(__file__).parent


def assets() -> Assets:
    """The strings that `st.components.v2.component` takes."""
    return Assets(
        html='<div class="hcv hara-keys"></div>',
        css="\n".join(
            path.read_text(encoding="utf-8")
            for path in (FOLDER.parent / "shared" / "base.css", FOLDER / "component.css")
        ),
        js=join_modules(FOLDER, ["component"]),
    )


def map_of(page: str) -> dict[str, Any]:
    """The data for a page, by its title; a page without keys of its own has those of every page."""
    own = [[place, [list(row) for row in rows]] for place, rows in PAGE_KEYS.get(page, ())]
    everywhere = [["?", "this map"], ["Esc", "close it"]]
    return {
        "page": page,
        "sections": [*own, ["On every page", everywhere]],
        "pages": [list(row) for row in PAGES],
        "lecture": LECTURES.get(page),
    }
