"""A fixed text under each checkpoint: who has read it, and what they think of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.backend import jobs
from hara_viz.backend.compare import Checkpoint
from hara_viz.backend.compare_readings import TextReading, read_text, reader_command
from hara_viz.errors import HaraError
from hara_viz.plots.token_lines import TokenLine, token_lines
from hara_viz.ui import data, state
from hara_viz.ui.compare_choice import Chosen
from hara_viz.ui.compare_sides import SideView, config_of
from hara_viz.ui.quote import words_of_span
from hara_viz.ui.roots import roots
from hara_viz.ui.sample_jobs import model_of
from hara_viz.ui.words import inert

_SHOWN_LINES = 8


def fixed_text(chosen: Chosen, sides: tuple[SideView, SideView]) -> None:
    """The readings of one side's rollouts as a table and along one of them."""
    left, right = st.columns([1, 2], gap="small", vertical_alignment="bottom")
    letter = left.segmented_control(
        "The text is what … wrote", ["A", "B"], default="A", required=True, key="compare.text.side"
    )
    side = sides[letter == "B"]
    sample = right.selectbox(
        "Rollout",
        [r.sample for r in side.group.rollouts],
        format_func=side.label,
        key=f"compare.text.rollout.{side.name}.{side.key.problem_id}",
    )
    readings = _readings(side, chosen.checkpoints)
    st.dataframe(
        reading_frame(side.name, readings),
        hide_index=True,
        placeholder="–",
        column_config={
            "mean log p": st.column_config.NumberColumn(format="%.4f"),
            "log-ratio": st.column_config.NumberColumn(
                format="%+.4f", help="Mean of log p minus log p under the writer, per token, nats"
            ),
            "novelty agrees": st.column_config.NumberColumn(
                format="%.3f", help="Spearman of the tokens' novelty with that under the writer"
            ),
        },
    )
    _along(side, int(sample), readings)
    missing = [r.checkpoint for r in readings if r.logprobs is None]
    ends = (chosen.a.fingerprint, chosen.b.fingerprint)
    _fill_in(side, sorted(missing, key=lambda c: c.fingerprint not in ends))


def reading_frame(run: str, readings: Sequence[TextReading]) -> pd.DataFrame:
    """What the table shows. Pure."""
    rows = []
    for reading in readings:
        logprobs = reading.logprobs
        known = logprobs is not None
        rows.append(
            {
                "checkpoint": reading.checkpoint.label,
                "role": "wrote it" if reading.is_own else "read it" if known else "has not read it",
                "mean log p": None if logprobs is None else float(np.nanmean(logprobs)),
                "log-ratio": None if reading.is_own else reading.mean_log_ratio,
                "novelty agrees": None if reading.is_own else reading.agreement,
                "to fill in": "" if known else reader_command(run, reading.checkpoint),
            }
        )
    return pd.DataFrame(rows)


def _along(side: SideView, sample: int, readings: Sequence[TextReading]) -> None:
    """Log-ratio and rank of novelty along the tokens of one rollout."""
    rollouts = side.group.rollouts
    row = [r.sample for r in rollouts].index(sample)
    offsets = np.cumsum([0, *(len(r.completion_ids) for r in rollouts)])
    own = slice(int(offsets[row]), int(offsets[row + 1]))
    words = [words_of_span(rollouts[row], t, t + 1, 12) for t in range(own.stop - own.start)]
    texts = [f"{before}[{inside}]{after}" for before, inside, after in words]
    read = [r for r in readings if r.logprobs is not None][:_SHOWN_LINES]
    ratios = [
        TokenLine(r.checkpoint.label, r.log_ratio[own], number)
        for number, r in enumerate(read)
        if r.log_ratio is not None and not r.is_own
    ]
    novelty = [
        TokenLine(r.checkpoint.label, _ranks(r.novelty)[own], number)
        for number, r in enumerate(read)
        if r.novelty is not None
    ]
    for lines, title, zero in (
        (ratios, "Log-ratio to the checkpoint that wrote it (nats)", True),
        (novelty, "Novelty, as a rank among the tokens of the group (0 to 1)", False),
    ):
        if lines:
            figure = token_lines(lines, texts, title=title, zero=zero)
            st.plotly_chart(figure, key=f"compare.text.{zero}", config={"displaylogo": False})


def _fill_in(side: SideView, missing: Sequence[Checkpoint]) -> None:
    """One button per checkpoint that has not read the text."""
    if not missing:
        return
    st.caption(
        "Teacher forcing takes the weights: one pass over this run's rollouts for each checkpoint, "
        "as a job that goes on when the browser is closed (the Runs page shows it)."
    )
    with st.container(horizontal=True):
        for checkpoint in missing:
            name = f"compare.read.{side.letter}.{checkpoint.fingerprint}"
            st.button(
                f"Let {inert(checkpoint.label)} read {side.letter}",
                key=name,
                icon=":material/visibility:",
                disabled=not checkpoint.weights,
                on_click=_launch,
                args=(str(data.run(side.name).path), checkpoint.weights),
            )


def _launch(run: str, weights: str) -> None:
    try:
        arguments = {
            "run": run,
            "model": model_of(weights, roots()),
            "layers": (-1,),
            "roots": [str(root) for root in roots().allowed],
        }
        jobs.start("states", arguments, roots().jobs)
    except HaraError as error:
        st.toast(inert(str(error)), icon=":material/error:")
        return
    st.toast("The checkpoint reads the run; the Runs page shows how far it is.")


def _readings(side: SideView, checkpoints: Sequence[Checkpoint]) -> tuple[TextReading, ...]:
    places = tuple(c.place for c in checkpoints)
    stamp = data.run_stamp(side.name), _readings_stamp(side)
    config = config_of(side.checkpoint).to_json()
    key = tuple(side.key)
    return _read(side.name, stamp, key, places, config, state.current().layer, _side=side,
                 _checkpoints=checkpoints)  # fmt: skip


def _readings_stamp(side: SideView) -> int:
    """When a checkpoint last read something of the run."""
    folder = side.checkpoint.path / "logprobs"
    places = [folder, *(folder.iterdir() if folder.is_dir() else ())]
    return max((p.stat().st_mtime_ns for p in places if p.exists()), default=0)


@st.cache_resource(max_entries=16, show_spinner="Reading what checkpoints say of this text …")
def _read(
    run: str,
    stamp: tuple[int, int],
    key: tuple[object, ...],
    places: tuple[object, ...],
    config: str,
    layer: int | None,
    _side: SideView,
    _checkpoints: Sequence[Checkpoint],
) -> tuple[TextReading, ...]:
    opened = data.run(run)
    return read_text(opened, _side.key, _checkpoints, config_of(_side.checkpoint), layer)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Mid-rank of each known value in (0, 1)."""
    known = np.isfinite(values)
    found = np.full(len(values), np.nan)
    order = np.argsort(np.argsort(values[known], kind="stable"), kind="stable")
    found[known] = (order + 0.5) / max(int(known.sum()), 1)
    return found
