"""The table of all runs with their figures; a click opens one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from hara_viz.analysis.figures import RunFigures
from hara_viz.backend.runs import RunSummary
from hara_viz.export import Origin
from hara_viz.ui import data, state
from hara_viz.ui.click_table import click_table
from hara_viz.ui.export_buttons import table_downloads
from hara_viz.ui.roots import roots
from hara_viz.ui.sample_jobs import checkpoint_name, step_of
from hara_viz.ui.words import count, inert


def run_table() -> None:
    """Every readable run, and the reasons why the others are not."""
    summaries = data.runs()
    readable = [summary for summary in summaries if summary.error is None]
    if readable:
        names = [summary.name for summary in readable]
        frame = run_frame(readable, [data.run_table(name).figures for name in names])
        run = state.current().run
        click_table(
            frame,
            [{"runs": (name,)} for name in names],
            key="runs.table",
            here=names.index(run) if run in names else None,
            columns=_COLUMNS,
        )
        origin = Origin(runs=tuple(names))
        table_downloads(lambda: frame, lambda: origin, name="runs")
        st.caption("Click a run to choose it; the Rollouts page shows its groups.")
    else:
        st.caption("No run here yet: start one below, or with `hara-viz sample`. They lie in")
        st.code(str(roots().runs), language=None)
    broken = [summary for summary in summaries if summary.error is not None]
    if broken:
        with st.expander(f"{count(len(broken), 'run')} cannot be read"):
            for summary in broken:
                st.warning(inert(f"{summary.name}: {summary.error}"))


def run_frame(summaries: Sequence[RunSummary], figures: Sequence[RunFigures]) -> pd.DataFrame:
    """What `run_table` shows. Pure."""
    frame = pd.DataFrame(
        [_line(summary, of_run) for summary, of_run in zip(summaries, figures, strict=True)]
    )
    # Where a run has no step, the others' would become 50.000000.
    return frame.astype({"step": "Int64"})


def _line(summary: RunSummary, figures: RunFigures) -> dict[str, object]:
    info = summary.info
    checkpoint = _checkpoint(info.checkpoint.path) if info and info.checkpoint else None
    problems = _last_name(info.problem_set or "unknown set") if info else ""
    # What tells runs apart first, then how good they are: a narrow screen cuts the last ones off.
    return {
        "run": summary.name,
        "state": "complete" if summary.complete else "growing" if summary.writing else "stopped",
        "checkpoint": checkpoint,
        "step": info.global_step if info else None,
        "problems": f"{figures.n_problems} · {problems}",
        "pass@1": _per_cent(figures.pass_at_1),
        "pass@k": _per_cent(figures.pass_at_k),
        "k": figures.k,
        "degenerate": f"{figures.n_degenerate}/{figures.n_groups}",
        "rollouts": figures.n_rollouts,
        "mean length": figures.mean_length,
        "truncated": figures.n_truncated,
        "unscored": figures.n_unscored,
        "created": (info.created[:16].replace("T", " ") if info else None),
    }


def _checkpoint(path: str) -> str:
    """With the training's folder where the name is a step's, which many trainings share."""
    return _last_name(path) if step_of(path, None) is None else checkpoint_name(path)


def _last_name(path: str) -> str:
    """The end of a local path; a hub id as it is."""
    return Path(path).name if Path(path).is_absolute() or path.count("/") > 1 else path


def _per_cent(share: float | None) -> float | None:
    return None if share is None else 100 * share


# All but the last fit beside the sidebar on a screen of 1280 pixels.
_COLUMNS = {
    "run": st.column_config.TextColumn("Run", width=104),
    "state": st.column_config.TextColumn("State", width=66),
    "checkpoint": st.column_config.TextColumn("Checkpoint", width=136),
    "step": st.column_config.NumberColumn("Step", width=40, help="Training step"),
    "problems": st.column_config.TextColumn("Problems", width=104),
    "pass@1": st.column_config.ProgressColumn(
        "pass@1", min_value=0, max_value=100, format="%.0f %%", width=76
    ),
    "pass@k": st.column_config.ProgressColumn(
        "pass@k",
        min_value=0,
        max_value=100,
        format="%.0f %%",
        width=76,
        help="Chance that k rollouts hold a right one (unbiased estimator); k is the next column",
    ),
    "k": st.column_config.NumberColumn("k", width=28),
    "degenerate": st.column_config.TextColumn(
        "No signal", width=58, help="Groups whose rewards are all equal: no advantage"
    ),
    "rollouts": st.column_config.NumberColumn("Rollouts", width=56),
    "mean length": st.column_config.NumberColumn("Length", format="%.0f", width=50, help="Tokens"),
    "truncated": st.column_config.NumberColumn(
        "Cut off", width=50, help="Rollouts that ran into the limit of new tokens"
    ),
    "unscored": st.column_config.NumberColumn("Unscored", width=60),
    "created": st.column_config.TextColumn("Created (UTC)", width=116),
}
