"""Driving the app without a browser; the private names of Streamlit are confined to this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from hara_viz.ui import state

APP = Path(__file__).parents[2] / "app.py"


def open_app(query: dict[str, str] | None = None, page: str | None = None) -> AppTest:
    """A run of the app as a pasted link would start it; fails on any exception."""
    at = AppTest.from_file(str(APP), default_timeout=60)
    for name, value in (query or {}).items():
        at.query_params[name] = value
    if page is not None:
        at.run()
        at.switch_page(page)
    return checked(at.run())


def checked(at: AppTest) -> AppTest:
    """The same app, if its last run ended well."""
    assert not at.exception, [(e.message, e.stack_trace[-3:]) for e in at.exception]
    return at


def selection(at: AppTest) -> state.Selection:
    """What the app has selected."""
    return at.session_state["hara.selection"]


def table(at: AppTest, key: str) -> Any:
    """The data frame that a table shows; KeyError if it is not on the page."""
    if _is_token_table(at, key):
        data = json.loads(component(at, key).json)
        names = [column["name"] for column in data["columns"]]
        values = [[value for _, value in row["cells"]] for row in data["rows"]]
        return pd.DataFrame(values, columns=names)
    return _element(at, "dataframe", key).value


def _is_token_table(at: AppTest, key: str) -> bool:
    return any(element.key == key for element in _all(at, "bidi_component"))


def table_of(at: AppTest, column: str) -> Any:
    """The data frame of the first table with that first column (tables to read have no key)."""
    return next(t.value for t in at.dataframe if str(t.value.columns[0]) == column)


def chart_with(at: AppTest, column: str) -> list[Any]:
    """The data of all Vega-Lite charts that have a column, as data frames."""
    data = [chart.proto.data.data for chart in at.get("vega_lite_chart")]
    frames = [pa.ipc.open_stream(bytes_).read_pandas() for bytes_ in data if bytes_]
    return [frame for frame in frames if column in frame]


def click_row(at: AppTest, key: str, row: int, column: str | None = None) -> AppTest:
    """Click a row of a table that leads somewhere; None: its first cell."""
    if _is_token_table(at, key):
        data = json.loads(component(at, key).json)
        names = [known["name"] for known in data["columns"]]
        line = data["rows"][row]
        own = line["own"].get(str(names.index(column)) if column else None)
        sample, token, _ = own or line["spots"][0]
        return trigger(at, "bus", "move", {"sample": sample, "token": token})
    element = _element(at, "dataframe", key)
    first_column = str(element.value.columns[0])
    states = _states(at)
    widget = states.widgets.add()
    widget.id = element.proto.id
    cells = {"selection": {"rows": [], "columns": [], "cells": [[row, column or first_column]]}}
    widget.string_value = json.dumps(cells)
    return checked(at._run(states))


def component(at: AppTest, key: str) -> Any:
    """The message of a mounted component: `.bytes`, `.json`, `.component_name`."""
    return _element(at, "bidi_component", key).proto


def inspected(at: AppTest) -> Any:
    """What the inspector's card says of the pinned token (`components.token_card.Card`), as JSON;
    None: no token is pinned.
    """
    words = component(at, "inspector.words").json
    return json.loads(words) if words else None


def inspected_values(at: AppTest) -> dict[str, float | None]:
    """The card's signals, by their labels."""
    return {label: value for label, value, _ in inspected(at)["values"]}


def trigger(at: AppTest, key: str, event: str, value: object) -> AppTest:
    """What happens when a component calls `setTriggerValue(event, value)`."""
    states = _states(at)
    widget = states.widgets.add()
    widget.id = f"$$STREAMLIT_INTERNAL_KEY_{component(at, key).id}__events"
    widget.json_trigger_value = json.dumps([{"event": event, "value": value}])
    return checked(at._run(states))


def plain(markdown: str) -> str:
    """What a reader sees of text that went through `words.inert`."""
    return markdown.replace("\\", "").replace("\u2060", "")


def shown_text(at: AppTest) -> str:
    """All text of the page's simple elements, one per line."""
    kinds = ("text", "caption", "markdown", "code", "info", "warning", "error", "subheader")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(at, kind))


def _element(at: AppTest, kind: str, key: str) -> Any:
    found = [element for element in _all(at, kind) if element.key == key]
    if not found:
        known = [element.key for element in _all(at, kind)]
        raise KeyError(f"no {kind} with key {key!r} on the page; there are {known}")
    return found[0]


def _states(at: AppTest) -> WidgetStates:
    return at._tree.get_widget_states()


def _all(at: AppTest, kind: str) -> list[Any]:
    return list(at.dataframe if kind == "dataframe" else at.get(kind))
