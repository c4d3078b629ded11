"""Learning curves of the compared checkpoints, and their figures as a table."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from hara_viz.analysis.learning_curves import METRICS, interval_text, title_of
from hara_viz.backend.compare import Comparison, compare_checkpoints
from hara_viz.export import Origin
from hara_viz.plots.learning_curves import CurveSeries, learning_curves
from hara_viz.ui import data
from hara_viz.ui.click_table import click_table
from hara_viz.ui.compare_choice import Chosen, place_of
from hara_viz.ui.compare_reads import (
    LIVE_ROLLOUTS,
    answers_step,
    ask,
    asked,
    credit_step,
    take_steps,
)
from hara_viz.ui.export_buttons import CHART, report_download, table_downloads
from hara_viz.ui.words import count, number

K_KEY = "compare.k"


def curves_view(chosen: Chosen) -> None:
    """Curves, their table, and what is still to be read."""
    found = comparison(chosen)
    drawn = {n: c for n, c in found.curves.items() if any(p.n for p in c.points)}
    titles = {name: title_of(metric, found.k) for name, metric in METRICS.items()}
    marks = {"A": place_of(chosen, chosen.a), "B": place_of(chosen, chosen.b)}
    figure = learning_curves(drawn, series_of(found), titles=titles, marks=marks)
    st.plotly_chart(figure, key="compare.curves", config=CHART)
    _notes(chosen, found)
    read = _go_on_reading(chosen)
    click_table(
        curve_frame(found),
        [chosen.showing(c.place.run) for c in found.checkpoints],
        key="compare.checkpoints",
        here=marks["B"],
        max_rows=20,
        columns={
            "step": st.column_config.NumberColumn(width=50),
            "problems": st.column_config.NumberColumn(width=60),
            "Entropy (nats)": st.column_config.TextColumn(width=135),
        },
    )
    with st.container(horizontal=True, gap="small"):
        report_download(tuple(chosen.runs), ready=read)
        origin = Origin(runs=tuple(chosen.runs))
        table_downloads(lambda: curve_frame(found), lambda: origin, name="checkpoints", ready=read)
    st.caption(
        "Means over problems with 95 % bootstrap intervals over problems (percentiles of 4,000 "
        "resamples). Novelty is that of the credit that a run keeps, else of the sidebar's credit. "
        "A click shows that run on the other pages."
    )


def comparison(chosen: Chosen) -> Comparison:
    """The curves at the k that is chosen."""
    return _comparison(
        tuple(chosen.runs),
        tuple(opened.stamp for opened in chosen.runs.values()),
        chosen.reads.key,
        st.session_state.get(K_KEY),
        _chosen=chosen,
    )


def curve_frame(found: Comparison) -> pd.DataFrame:
    """What the table shows: one line per checkpoint. Pure."""
    rows = []
    for place, checkpoint in enumerate(found.checkpoints):
        figures = {
            title_of(METRICS[name], found.k): interval_text(METRICS[name].unit, c.points[place])
            for name, c in found.curves.items()
            if any(point.n for point in c.points)
        }
        rows.append(
            {
                "run": checkpoint.place.run,
                "step": checkpoint.place.step,
                "series": checkpoint.series,
                "problems": len(checkpoint.problems),
                **figures,
            }
        )
    return pd.DataFrame(rows)


def series_of(found: Comparison) -> list[CurveSeries]:
    """The lines of the curves; checkpoints of unknown step stand at their place. Pure."""
    lines: list[CurveSeries] = []
    for name, places in found.series.items():
        own = [found.checkpoints[place] for place in places]
        steps = [float(i if c.place.step is None else c.place.step) for i, c in enumerate(own)]
        lines.append(CurveSeries(name, tuple(steps), tuple(c.label for c in own), places))
    return lines


def _notes(chosen: Chosen, found: Comparison) -> None:
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    sizes = {len(c.problems) for c in found.checkpoints}
    if sizes != {found.n_common}:
        left.warning(
            f"The checkpoints share {count(found.n_common, 'problem')}, but hold "
            f"{min(sizes)} to {max(sizes)}: their curves are means over different problems. "
            "The Problems view pairs A and B on those that both have."
        )
    thresholds = sorted({c.success_threshold for c in found.checkpoints})
    shown = " or ".join(number(t, 2) for t in thresholds)
    left.caption(f"A rollout is right from a reward of {shown} on. Points A and B are marked.")
    if found.k_most > 1:
        right.slider(
            "k of pass@k and of distinct answers",
            1,
            found.k_most,
            found.k,
            key=K_KEY,
            help="Both are unbiased estimates for k rollouts, whatever the group's size",
        )


def _go_on_reading(chosen: Chosen) -> bool:
    """Entropies and answers at once, novelty when it is asked for. True: nothing is being read, so
    the page stays as it is.
    """
    n_rollouts = sum(sum(c.problems["n_rollouts"].tolist()) for c in chosen.checkpoints)
    answers = [answers_step(opened) for opened in chosen.runs.values()]
    if n_rollouts > LIVE_ROLLOUTS and not asked("answers"):
        st.button(
            f"Read entropies and answers of {n_rollouts:,} rollouts",
            key="compare.answers",
            on_click=ask,
            args=("answers",),
        )
    elif not take_steps(answers, "Reading entropies and answers", "compare.answers.read"):
        return False
    without = [c.place.run for c in chosen.checkpoints if bool(c.problems["novelty"].isna().any())]
    credit = [credit_step(chosen.runs[name]) for name in dict.fromkeys(without)]
    if not [step for step in credit if step.result() is None]:
        return True
    if not asked("novelty"):
        n_groups = sum(len(data.run_table(name).groups) for name in dict.fromkeys(without))
        st.button(
            f"Compute the novelty of {count(n_groups, 'group')}",
            key="compare.novelty",
            on_click=ask,
            args=("novelty",),
            help="A second or so for eight groups of 8 × 60 tokens. Where `hara-viz credit RUN` "
            "has kept credit, it is read instead",
        )
        return True
    return take_steps(credit, "Computing credit", "compare.credit.read")


@st.cache_resource(max_entries=16, show_spinner=False)
def _comparison(
    names: tuple[str, ...],
    stamps: tuple[int, ...],
    read: tuple[str, ...],
    k: int | None,
    _chosen: Chosen,
) -> Comparison:
    bound = compare_checkpoints(_chosen.checkpoints)
    if k is None or k == bound.k:
        return bound
    return compare_checkpoints(_chosen.checkpoints, min(k, bound.k_most))
