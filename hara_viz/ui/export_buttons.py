"""Downloads where a thing is shown. Nothing is made before it is clicked, and every file says which
run, version and credit it is of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from hara_viz.analysis.signals import SIGNALS
from hara_viz.backend.compare_report import compare_runs
from hara_viz.export import (
    Origin,
    csv_bytes,
    origin_of,
    parquet_bytes,
    report_page,
    rows_of,
    tokens_table,
    weights_bytes,
)
from hara_viz.export.heatmap_svg import heatmap_svg
from hara_viz.ui import data, state
from hara_viz.ui.further import values_of
from hara_viz.ui.group_view import GroupView

CHART: dict[str, Any] = {
    "displaylogo": False,
    "toImageButtonOptions": {"format": "svg", "filename": "hara-viz"},
}
"""Config of a Plotly chart: its camera button saves the figure with its legend as SVG."""


def group_downloads(view: GroupView) -> None:
    """The selected group as files: picture, weights for a trainer, tokens as a table."""
    name = view.file_stem
    with st.popover("Download more", icon=":material/download:", type="tertiary"):
        _button(
            "Heatmap as SVG", lambda: _picture(view), f"{name}.svg", "image/svg+xml", "picture",
            help="The signal shown now, with its legend",
        )  # fmt: skip
        for suffix in (".parquet", ".jsonl"):
            _button(
                f"Weights for a trainer ({suffix[1:]})",
                lambda suffix=suffix: weights_bytes(rows_of(view.credit), origin(view), suffix),
                f"{name}-weights{suffix}", "application/octet-stream", f"weights{suffix}",
                help="Token ids with weights, advantages and novelty, one row per rollout",
            )  # fmt: skip
        table_downloads(
            lambda: tokens_table(view.credit),
            lambda: origin(view),
            name=f"{name}-tokens",
            label="Tokens",
        )


def table_downloads(
    table: Callable[[], pd.DataFrame],
    origin: Callable[[], Origin],
    *,
    name: str,
    label: str = "Table",
    ready: bool = True,
) -> None:
    """A table as CSV that a spreadsheet may open, and as Parquet.

    Args:
        table: makes it; called at the click.
        origin: where it comes from; called at the click.
        name: of the file, without its ending.
        label: what the table holds, for the buttons.
        ready: False: more is being read, and the page will be drawn anew, which would lose a click.
    """
    with st.container(horizontal=True, gap="small"):
        for suffix, make in ((".csv", csv_bytes), (".parquet", parquet_bytes)):
            _button(
                f"{label} ({suffix[1:]})",
                lambda make=make: make(table(), origin()),
                f"{name}{suffix}", "application/octet-stream", f"{name}{suffix}",
                ready=ready,
            )  # fmt: skip


def report_download(names: Sequence[str], *, ready: bool = True) -> None:
    """A comparison of runs as one HTML page: curves, and paired tests of the ends.

    Args:
        names: of the runs.
        ready: False: more is being read, and the page will be drawn anew, which would lose a click.
    """
    _button(
        "Report (html)",
        lambda: report_page(compare_runs([data.run(name) for name in names])),
        "comparison.html", "text/html", "report",
        help="Curves, figures and paired tests in one file that opens without a server. "
        "`hara-viz compare … --tokens --out` adds novelty, drift and patterns.",
        ready=ready,
    )  # fmt: skip


def origin(view: GroupView) -> Origin:
    """Where the selected group's numbers come from."""
    return origin_of(view.run, view.config, view.credit.layer)


def _picture(view: GroupView) -> str:
    name = state.current().signal
    signal, values = view.signal(name), values_of(view, name)
    if signal is None or values is None:  # on its way: the picture shows what every group has
        signal, values = SIGNALS["novelty"], view.values("novelty")
    assert values is not None, "credit always has a novelty"
    return heatmap_svg(view.credit, signal, values, origin(view))


def _button(
    label: str,
    make: Callable[[], bytes | str],
    file_name: str,
    mime: str,
    key: str,
    help: str | None = None,
    ready: bool = True,
) -> None:
    st.download_button(
        label,
        data=make,
        file_name=file_name,
        mime=mime,
        on_click="ignore",
        key=f"export.{key}",
        type="tertiary",
        icon=":material/download:",
        help=help if ready else "As soon as everything is read",
        disabled=not ready,
    )
