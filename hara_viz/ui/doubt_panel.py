"""Noise seen as noise: novelty under shuffled outcomes and from other starts of the solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.analysis.doubt import (
    SpanDoubt,
    other_labellings,
    rank_p,
    sentence_spans,
    span_doubts,
)
from hara_viz.analysis.ranks import spearman
from hara_viz.backend.doubt import Draw, other_starts, shuffled_outcomes
from hara_viz.plots.transport_charts import null_strip
from hara_viz.ui import data, state
from hara_viz.ui.batch_work import Call, batch, begin, is_begun
from hara_viz.ui.click_table import click_table
from hara_viz.ui.quote import words_of_span
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import number

STARTS = (1, 2, 3, 4)
LEVEL = 0.05
# Draws of one call are solved together: many are quick, few let the bar move and hold little.
_MOST_DRAWS, _TOKENS_OF_A_CALL = 12, 2**15
_COLUMNS = {
    "rollout": st.column_config.NumberColumn(width=58),
    "span": st.column_config.TextColumn(width=380),
    "z": st.column_config.NumberColumn(
        format="%.2f", width=56, help="Mean novelty of the span, standardised within its outcome"
    ),
    "shuffled": st.column_config.TextColumn(
        width=110, help="5 to 95 % of its values under shuffled outcomes"
    ),
    "p": st.column_config.NumberColumn(
        format="%.3f", width=60, help="Share of shuffles that go as far, itself included"
    ),
    "starts": st.column_config.NumberColumn(
        "± starts", format="%.2f", width=64, help="Standard deviation over starts of the solver"
    ),
}


class Shuffles(NamedTuple):
    """What is repeated for a group."""

    labellings: tuple[tuple[int, ...], ...]
    """Per draw, the rows that count as right."""
    calls: list[Call]


def doubt_panel(shown: TransportView) -> None:
    """A button, then every span against its null, and how stable it is over starts."""
    st.caption(
        "Would a span stand out just as much if other rollouts were right? Outcomes are shuffled "
        "within the group and its novelty is computed anew; and the solver starts elsewhere, to "
        "see how much of a colour is the start."
    )
    plan = shuffles(shown)
    if not plan.labellings:
        st.info(
            "Nothing to shuffle: the null needs a group with right and wrong rollouts and at least "
            "one other way to split them. Choose a mixed problem in the sidebar."
        )
        return
    if not is_begun(plan.calls):
        st.button(
            f"Shuffle outcomes {len(plan.labellings)} times, start {len(STARTS)} times elsewhere",
            key="doubt.go",
            on_click=begin,
            args=(plan.calls,),
        )
        return
    found = batch(plan.calls, message="Solving again (in small batches)", key="doubt")
    if found is not None:
        _result(shown, found)


def shuffles(shown: TransportView) -> Shuffles:
    """How a group is shuffled; fewer times for larger groups. Pure."""
    view = shown.view
    outcomes = [view.success(rollout) for rollout in view.group.rollouts]
    scored = [row for row, success in enumerate(outcomes) if success is not None]
    right = [row for row in scored if outcomes[row]]
    n_tokens = view.offsets[-1]
    draws = 99 if n_tokens <= 1024 else 39 if n_tokens <= 8192 else 19
    labellings = other_labellings(scored, right, draws)
    identity = (
        str(view.run.path),
        data.run_stamp(view.run_name),
        tuple(view.key),
        shown.transport.found.config.to_json(),
        state.current().layer,
    )
    calls: list[Call] = [(other_starts, (*identity, (0, *STARTS)))]
    each = max(min(_MOST_DRAWS, _TOKENS_OF_A_CALL // max(n_tokens, 1)), 1)
    for at in range(0, len(labellings), each):
        calls.append((shuffled_outcomes, (*identity, labellings[at : at + each])))
    return Shuffles(labellings, calls)


def doubts(shown: TransportView, found: Sequence[Sequence[Draw]]) -> tuple[SpanDoubt, ...]:
    """Every sentence of the group against its null. Pure."""
    (base, *starts), shuffled = found[0], [draw for part in found[1:] for draw in part]
    rollouts = shown.view.group.rollouts
    spans = sentence_spans(
        [rollout.reasoning_step for rollout in rollouts],
        [len(rollout.completion_ids) for rollout in rollouts],
    )
    null = np.stack([draw.z for draw in shuffled])
    return span_doubts(base.z, null, np.stack([s.z for s in starts]), spans, shown.view.offsets)


def doubt_frame(shown: TransportView, spans: Sequence[SpanDoubt]) -> pd.DataFrame:
    """The table of spans. Pure."""
    rows = []
    for span in spans:
        rollout = shown.view.group.rollouts[span.row]
        _, inside, _ = words_of_span(rollout, span.start, span.stop)
        known = not np.isnan(span.p)
        rows.append(
            {
                "rollout": rollout.sample,
                "span": inside,
                "z": span.z,
                "shuffled": f"{number(span.low, 2)} … {number(span.high, 2)}" if known else "–",
                "p": span.p if known else None,
                "starts": span.wobble,
            }
        )
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def summary(shown: TransportView, found: Sequence[Sequence[Draw]]) -> list[str]:
    """What a reader should take away, in sentences. Pure."""
    spans = [span for span in doubts(shown, found) if not np.isnan(span.p)]
    (base, *starts), shuffled = found[0], [draw for part in found[1:] for draw in part]
    beyond = sum(span.p <= LEVEL for span in spans)
    least = 1 / (1 + len(shuffled))
    said = [
        f"Spans more novel than under {100 * (1 - LEVEL):.0f} % of the shuffled outcomes: {beyond} "
        f"of {len(spans)}; chance alone would bring about {number(LEVEL * len(spans), 1)}."
    ]
    if least > LEVEL:
        said.append(
            f"With so few rollouts there are only {len(shuffled)} other ways to split them, so no "
            f"p can fall below {least:.3f}: this group is too small to tell."
        )
    separations = [draw.separation for draw in shuffled if draw.separation is not None]
    if base.separation is not None and separations:
        p = rank_p(base.separation, np.array(separations))
        said.append(
            f"The two barycenters are {base.separation:.4f} apart, shuffled ones "
            f"{np.mean(separations):.4f} on average (p = {p:.3f})."
        )
    agreements = [a for start in starts if (a := _agreement(base, start)) is not None]
    if agreements:
        said.append(
            f"Other starts of the solver rank the tokens with a correlation of "
            f"{np.mean(agreements):.3f} (lowest {min(agreements):.3f})."
        )
    unsettled = sum(not draw.converged for part in found for draw in part)
    if unsettled:
        n_draws = sum(len(part) for part in found)
        said.append(f"{unsettled} of these {n_draws} solves did not converge.")
    return said


def _agreement(base: Draw, start: Draw) -> float | None:
    known = ~(np.isnan(base.z) | np.isnan(start.z))
    return spearman(base.z[known], start.z[known])


def _result(shown: TransportView, found: Sequence[Sequence[Draw]]) -> None:
    spans = doubts(shown, found)
    st.markdown("\n".join(f"- {sentence}" for sentence in summary(shown, found)))
    frame = doubt_frame(shown, spans)
    chart = frame.assign(
        span=range(len(frame)),
        low=[span.low for span in spans],
        high=[span.high for span in spans],
        beyond=["beyond its null" if s.p <= LEVEL else "within its null" for s in spans],
    )
    st.vega_lite_chart(
        chart[["span", "rollout", "z", "low", "high", "p", "beyond"]],
        null_strip(),
        height=210,
        key="doubt.chart",
    )
    order = sorted(range(len(spans)), key=lambda i: (-spans[i].z, i))
    click_table(
        frame.iloc[order].reset_index(drop=True),
        [{"sample": shown.view.samples[spans[i].row], "token": spans[i].start} for i in order],
        key="doubt.table",
        columns=_COLUMNS,
        row_height=28,
        max_rows=10,
    )
    st.caption(
        "Spans are sentences, most novel first; bars are 5 to 95 % of the span's values under "
        "shuffled outcomes. Click a row to go there."
    )
