"""Credit methods on the same rollouts: how alike they rank tokens, how much weight they move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.analysis.bootstrap import Interval
from hara_viz.backend.compare_methods import (
    Agreement,
    GroupMethods,
    Method,
    agreement_of,
    methods_at,
    methods_under,
    winning_spans,
)
from hara_viz.plots.matrix import matrix_figure
from hara_viz.ui import data, state
from hara_viz.ui.click_table import click_table
from hara_viz.ui.compare_choice import Chosen
from hara_viz.ui.compare_reads import Step, ask, asked, take_steps
from hara_viz.ui.compare_same import usage_frame
from hara_viz.ui.compare_sides import SideView, both_sides, config_of
from hara_viz.ui.export_buttons import CHART
from hara_viz.ui.words import count, inert

_CHUNK = 4


def methods_view(chosen: Chosen) -> None:
    """Matrices and spans of one problem, or matrices over all problems of a run."""
    left, right = st.columns([1, 3], gap="small", vertical_alignment="bottom")
    letter = left.segmented_control(
        "Rollouts of", ["A", "B"], default="B", required=True, key="compare.methods.side"
    )
    scope = right.segmented_control(
        "On", ["this problem", "all problems"], default="this problem", required=True,
        key="compare.methods.scope",
    )  # fmt: skip
    sides = both_sides(chosen)
    if sides is None:
        return
    side = sides[letter == "B"]
    methods = methods_under(config_of(side.checkpoint))
    if scope == "all problems":
        groups = _all_groups(side)
        if groups is not None:
            _matrices(methods, groups)
        return
    step = _step(side, (side.key,))
    if take_steps([step], "Giving credit in ten ways", "compare.methods.one"):
        groups = step.result()
        if groups is not None:
            _matrices(methods, groups)
            _spans(chosen, side, methods, groups[0])


def methods_frame(methods: Sequence[Method], found: Agreement) -> pd.DataFrame:
    """Each method against uniform and against HarA. Pure."""
    names = [method.name for method in methods]
    uniform, hara = names.index("uniform"), names.index("hara")
    rows = []
    for i, method in enumerate(methods):
        moved, other, rank = found.moved[i][uniform], found.moved[i][hara], found.ranks[i][hara]
        rows.append(
            {
                "method": method.label,
                "weight moved, %": _per_cent(moved.value),
                "interval": _ends(moved),
                "moved against HarA, %": _per_cent(other.value),
                "rank correlation with HarA": None if np.isnan(rank.value) else rank.value,
                "its interval": _ends(rank, 1.0, 2),
                "problems": moved.n,
            }
        )
    return pd.DataFrame(rows)


def _all_groups(side: SideView) -> tuple[GroupMethods, ...] | None:
    keys = data.run(side.name).keys()
    chunks = [tuple(keys[i : i + _CHUNK]) for i in range(0, len(keys), _CHUNK)]
    steps = [_step(side, chunk) for chunk in chunks]
    question = f"methods {side.name}"
    if not asked(question) and any(step.result() is None for step in steps):
        st.button(
            f"Give credit in ten ways to {count(len(keys), 'group')}",
            key="compare.methods.go",
            on_click=ask,
            args=(question,),
            help="About a second for each group of 8 × 60 tokens",
        )
        return None
    if not take_steps(steps, "Giving credit in ten ways", "compare.methods.all", "parts"):
        return None
    results = [step.result() for step in steps]
    return tuple(group for part in results if part is not None for group in part) or None


def _step(side: SideView, keys: tuple[object, ...]) -> Step:
    run, layer = data.run(side.name), state.current().layer
    return Step(
        methods_at,
        (
            str(run.path),
            data.run_stamp(side.name),
            keys,
            config_of(side.checkpoint).to_json(),
            layer if layer in run.layers else None,
        ),
    )


def _matrices(methods: Sequence[Method], groups: Sequence[GroupMethods]) -> None:
    found = agreement_of(groups)
    labels = [method.label for method in methods]
    left, right = st.columns(2, gap="small")
    ranks, moved = (
        np.array([[cell.value for cell in row] for row in matrix])
        for matrix in (found.ranks, found.moved)
    )
    figure = matrix_figure(ranks, labels, label="Rank correlation of the weights", signed=True)
    left.plotly_chart(figure, key="compare.methods.ranks", config=CHART)
    figure = matrix_figure(
        100 * moved, labels, label="Share of the weight that lies elsewhere, %", digits=0
    )
    right.plotly_chart(figure, key="compare.methods.moved", config=CHART)
    st.dataframe(
        methods_frame(methods, found),
        hide_index=True,
        placeholder="–",
        column_config={
            "weight moved, %": st.column_config.NumberColumn(format="%.1f"),
            "moved against HarA, %": st.column_config.NumberColumn(format="%.1f"),
            "rank correlation with HarA": st.column_config.NumberColumn(format="%.3f"),
        },
    )
    st.caption(
        "Weight moved: ½ · mean |w − 1| over the tokens of a group, what part of the advantage "
        "lies on other tokens than under uniform GRPO. Rank correlations (Spearman) are taken "
        "inside each outcome class; means over problems with bootstrap intervals. What a method "
        "does not name is as in the sidebar's credit."
    )
    for method, reason in zip(methods, groups[0].refused, strict=True):
        if reason:
            st.caption(f"{method.label}: {inert(reason, 400)}")


def _spans(chosen: Chosen, side: SideView, methods: Sequence[Method], group: GroupMethods) -> None:
    labels = [m.label for m, w in zip(methods, group.weights, strict=True) if w is not None]
    if len(labels) < 2:
        return
    left, right = st.columns(2, gap="small")
    first = left.selectbox("From", labels, key="compare.methods.from")
    last = labels.index("HarA") if "HarA" in labels else len(labels) - 1
    second = right.selectbox("To", labels, index=last, key="compare.methods.to")
    by_label = {m.label: w for m, w in zip(methods, group.weights, strict=True)}
    a, b = by_label[first], by_label[second]
    assert a is not None and b is not None  # the labels are those that have weights
    for column, title, spans in (
        (left, "Lose weight", winning_spans(side.group, b, a)),
        (right, "Win weight", winning_spans(side.group, a, b)),
    ):
        column.markdown(f"**{title}**")
        if not spans:
            column.caption("No span: both give the same.")
            continue
        with column:
            click_table(
                usage_frame(side, spans, own=False),
                [
                    {
                        **chosen.showing(side.name, side.key),
                        "sample": side.group.rollouts[span.row].sample,
                        "token": span.start,
                    }
                    for span in spans
                ],
                key=f"compare.methods.{title}",
                max_rows=8,
                columns={
                    "rollout": st.column_config.NumberColumn(width=50),
                    "tokens": st.column_config.TextColumn(width=60),
                    "change": st.column_config.NumberColumn(format="%.2f", width=60),
                },
            )


def _per_cent(share: float) -> float | None:
    return None if np.isnan(share) else 100 * share


def _ends(found: Interval, scale: float = 100.0, digits: int = 1) -> str:
    if np.isnan(found.low):
        return ""
    return f"[{scale * found.low:.{digits}f}, {scale * found.high:.{digits}f}]"
