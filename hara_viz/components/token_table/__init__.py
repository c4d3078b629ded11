"""A table of tokens that is linked: its rows stand for places in the rollouts' texts.

Streamlit's own data frame draws on a canvas that nothing in the page can reach, and its clicks go
through Python. Here a row is lit in the very moment when its token is picked in another view, and a
click lights the others in turn.

Python side::

    from hara_viz.components.token_table import Column, assets, table_data

    parts = assets()
    table = st.components.v2.component("hara_token_table", html=parts.html, css=parts.css,
                                       js=parts.js)      # once, at module level
    table(key="spans.table", data=table_data("spans.table", columns, rows, spots))

`data` is JSON (`table.py` describes it). A click on a row selects its first spot, a click on a cell
that has a spot of its own that one: the address is replaced, other views hear `hara:select`, and
the selection bus passes it on to Python. Equal content rebuilds nothing and keeps the order that
the reader chose by a column's head.

Keys, with the focus in the table: arrows, Home and End move along the rows, Enter selects.

For tests, the root (`.htt`) carries data-ready, data-builds and data-lit (number of rows lit); rows
are `tr[data-row]`, lit ones `.lit`.
"""

from pathlib import Path

from hara_viz.components.bundle import Assets, join_modules
from hara_viz.components.token_table.table import Column, Spot, table_data

__all__ = ["Assets", "Column", "Spot", "assets", "table_data"]

FOLDER = Path(__file__).parent
# In the order in which they build on each other; the last one is the entry.
MODULES = (
    "../token_heatmap/dom",
    "../token_heatmap/address",
    "../shared/selection",
    "rows",
    "component",
)


def assets() -> Assets:
    """The strings that `st.components.v2.component` takes."""
    styles = (FOLDER.parent / "shared" / "base.css", FOLDER / "component.css")
    return Assets(
        html='<div class="hcv htt"></div>',
        css="\n".join(path.read_text(encoding="utf-8") for path in styles),
        js=join_modules(FOLDER, MODULES),
    )
