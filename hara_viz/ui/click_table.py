"""A table whose rows lead somewhere: a click anywhere in a row moves the selection.

For rows that are tokens of the selected group there is `token_table`, which is lit with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from hara_viz.ui import state

# Blue at a low opacity: readable on the light and on the dark ground.
_MARK = "background-color: rgba(64, 120, 220, 0.22)"
_NOTHING: dict[str, Any] = {"selection": {"rows": [], "columns": [], "cells": []}}


def click_table(
    frame: pd.DataFrame,
    targets: Sequence[Mapping[str, Any]],
    *,
    key: str,
    columns: Mapping[str, Any],
    here: int | None = None,
    row_height: int = 30,
    max_rows: int = 12,
    page: str | None = None,
) -> None:
    """Show a table; a click on row i calls `state.update(**targets[i])`.

    Args:
        frame: what is shown; text in it is shown as it is.
        targets: per row, the changes of the selection.
        key: names the widget.
        columns: Streamlit's column configuration.
        here: the row that the selection is at; it is marked.
        row_height: in pixels.
        max_rows: more rows scroll.
        page: the page that a click opens; None: it stays here.
    """
    if st.session_state.pop(_clicked_key(key), False) and page is not None:
        st.switch_page(page)
    st.session_state[_targets_key(key)] = targets
    st.dataframe(
        _marked(frame, here),
        hide_index=True,
        key=key,
        on_select=lambda: _go(key),
        selection_mode="single-cell",
        placeholder="–",
        row_height=row_height,
        height=row_height * (min(len(frame), max_rows) + 1) + 4,
        column_config=dict(columns),
    )


def _marked(frame: pd.DataFrame, here: int | None) -> pd.DataFrame | Styler:
    if here is None:
        return frame
    plain = frame.reset_index(drop=True)
    # All styles in one call: row by row they took longer than the rest of the table.
    styles = pd.DataFrame("", index=plain.index, columns=plain.columns)
    styles.iloc[here] = _MARK
    return plain.style.apply(lambda _: styles, axis=None)


def _go(key: str) -> None:
    held = st.session_state.get(key) or _NOTHING  # gone, if the page changed meanwhile
    cells = held["selection"]["cells"]
    targets = st.session_state.get(_targets_key(key)) or ()
    # Else a second click on the same row would only take the first one back.
    st.session_state[key] = _NOTHING
    row = cells[0][0] if cells else 0
    if cells and row < len(targets):
        state.update(**targets[row])
        st.session_state[_clicked_key(key)] = True
        st.rerun()  # all of the page, also where the table stands in a fragment


def _targets_key(key: str) -> str:
    return f"{key}.targets"


def _clicked_key(key: str) -> str:
    return f"{key}.clicked"
