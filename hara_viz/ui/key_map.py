"""The keyboard map of the page on `?`, its lecture view on `f`."""

from __future__ import annotations

from streamlit.components.v2 import component
from streamlit.navigation.page import Page

from hara_viz.components.key_map import assets, map_of

_parts = assets()
_map = component("hara_key_map", html=_parts.html, css=_parts.css, js=_parts.js)


def key_map(page: Page) -> None:
    """Mount the map of a page. It shows nothing until somebody presses `?`."""
    _map(key="key-map", data=map_of(page.title))
