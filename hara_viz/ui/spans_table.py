"""The most novel spans of the group as a table; a click jumps there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.analysis.signals import SIGNALS
from hara_viz.analysis.spans import TokenSpan, span_text, top_spans
from hara_viz.types import GroupKey, Rollout
from hara_viz.ui import state
from hara_viz.ui.export_buttons import origin, table_downloads
from hara_viz.ui.further import values_of
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.token_table import Column, Spot, token_table
from hara_viz.ui.words import one_line

_TOP = 12
_COLUMNS = (
    Column("rollout", 60),
    Column("outcome", 66),
    Column("tokens", 68, help="First and last, from 0 on"),
    Column("excess", 62, ".3f"),
    Column("mean", 62, ".4f"),
    Column("before", 170),
    Column("span", 230),
    Column("after", 170),
)


def spans_table(view: GroupView) -> None:
    """The spans where the shown signal rises most above its mean over the group."""
    signal = view.signal(state.current().signal) or SIGNALS["novelty"]
    values = values_of(view, signal.name)
    if values is None:
        st.caption(signal.missing or f"{signal.label} is not there yet.")
        return
    among = state.current().among
    rows = tuple(view.samples.index(sample) for sample in among if sample in view.samples)
    spans = _spans(*view.identity, signal.name, rows, values, tuple(view.offsets))
    if not spans and rows:
        st.caption(f"{signal.label} rises nowhere above the group's mean in these rollouts.")
        return
    if not spans:
        st.caption(f"{signal.label} is the same everywhere in this group: no span stands out.")
        return
    token_table(
        span_frame(view, spans),
        [[Spot(view.samples[span.row], span.start, span.stop)] for span in spans],
        key="spans.table",
        columns=_COLUMNS,
    )
    table_downloads(
        lambda: span_frame(view, spans), lambda: origin(view), name=f"{view.file_stem}-spans"
    )
    st.caption(
        f"Ranked by excess: the sum over a span of {signal.label.lower()}"
        f"{' (its size)' if signal.signed else ''} above the group's mean. "
        "Tokens are counted from 0. Click a row to go there."
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _spans(
    run: str,
    stamp: int,
    key: GroupKey,
    config: str,
    layer: int | None,
    signal: str,
    rows: tuple[int, ...],
    _values: np.ndarray,
    _offsets: tuple[int, ...],
) -> tuple[TokenSpan, ...]:
    """The first of all rollouts, or of `rows`; above the mean of the whole group either way."""
    size = np.nan_to_num(np.abs(_values))
    if not rows:
        return top_spans(size, _offsets, top=_TOP)
    found = top_spans(size, _offsets, top=len(size))
    return tuple(span for span in found if span.row in rows)[:_TOP]


def span_frame(view: GroupView, spans: tuple[TokenSpan, ...]) -> pd.DataFrame:
    """What `spans_table` shows. Pure."""
    rows = []
    for span in spans:
        rollout = view.group.rollouts[span.row]
        before, inside, after = _words(rollout, span)
        rows.append(
            {
                "rollout": rollout.sample,
                "outcome": {True: "right", False: "wrong", None: "unscored"}[view.success(rollout)],
                "tokens": f"{span.start}–{span.stop - 1}",
                "excess": span.excess,
                "mean": span.mean,
                "before": one_line(before),
                "span": one_line(inside, 160),
                "after": one_line(after),
            }
        )
    return pd.DataFrame(rows)


def _words(rollout: Rollout, span: TokenSpan) -> tuple[str, str, str]:
    if rollout.cell_start is None:
        return "", "(not cut into cells)", ""
    # As much as the columns show: what is cut off is what stands next to the span.
    return span_text(rollout.completion_text, rollout.cell_start, span.start, span.stop, context=24)
