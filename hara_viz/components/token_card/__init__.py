"""The card of a pinned token: its text and values, the atoms it is matched with, and its like.

Real tables and buttons: they can be read aloud, copied and pressed by key, and cost the script of a
click a fraction of what four data frames do. Text goes in as text nodes only.

Python side::

    from hara_viz.components.token_card import Card, assets, carrier_assets

    card = st.components.v2.component("hara_token_card", html=parts.html, css=parts.css,
                                      js=parts.js)        # once, at module level
    carrier = …                                           # the same of carrier_assets()
    card(key="inspector.card", on_pick_change=…)
    carrier(key="inspector.words", data=Card(…).to_json())  # in a fragment; None: an empty card

Two components, since Streamlit sends a component's script along with all new data: a click costs
the words alone.

A press on a row of the two lists writes the address, tells the other views of the page
(`hara:select`) and then Python by the card's trigger `pick`: {sample, token, linked}, where
`linked` says that the address names the token already. The bus does not report it a second time.
For tests, the root (`.htc`) carries data-sample and data-token; the tables are `[data-list]`.
"""

from pathlib import Path

from hara_viz.components.bundle import Assets, join_modules
from hara_viz.components.token_card.card import Card, CardAtom, CardQuote, CardValue

__all__ = ["Assets", "Card", "CardAtom", "CardQuote", "CardValue", "assets", "carrier_assets"]

FOLDER = Path(__file__).parent
# In the order in which they build on each other; the last one is the entry.
MODULES = ("../token_heatmap/dom", "../token_heatmap/address", "figures", "component")


def assets() -> Assets:
    """The strings that `st.components.v2.component` takes."""
    return Assets(
        html='<section class="htc" aria-label="Inspector"></section>',
        css=(FOLDER / "component.css").read_text(encoding="utf-8"),
        js=join_modules(FOLDER, MODULES),
    )


def carrier_assets() -> Assets:
    """Those of the component that brings the words."""
    return Assets(
        html="<span hidden></span>",
        css=":host { display: none; }",
        js=join_modules(FOLDER, ["carrier"]),
    )
