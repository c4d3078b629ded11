"""A table whose rows are tokens: lit with them, and leading to them, without waiting for Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from streamlit.components.v2 import component

from hara_viz.components.token_table import Column, Spot, assets, table_data

__all__ = ["Column", "Spot", "token_table"]

_parts = assets()
_table = component("hara_token_table", html=_parts.html, css=_parts.css, js=_parts.js)


def token_table(
    frame: pd.DataFrame,
    spots: Sequence[Sequence[Spot]],
    *,
    key: str,
    columns: Sequence[Column],
    most: int = 12,
    own: Mapping[str, Sequence[Spot | None]] | None = None,
) -> None:
    """Show a table of tokens. What a click selects reaches Python through the selection bus.

    Args:
        frame: the values; columns that it lacks are left out.
        spots: per row, the tokens it stands for, first the one that a click leads to.
        key: names the table, once on a page.
        columns: how each is shown, in order.
        most: more rows scroll.
        own: for a column whose cells lead elsewhere, the spot of each.
    """
    shown = [column for column in columns if column.name in frame]
    rows = [dict(zip(frame.columns, line, strict=True)) for line in frame.itertuples(index=False)]
    _table(key=key, data=table_data(key, shown, rows, spots, own, most=most))
