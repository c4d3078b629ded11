"""Words, steps and positions that are novel again and again, under A and under B."""

from __future__ import annotations

from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.analysis.patterns import KINDS, Kind
from hara_viz.backend.compare_credit import CreditReading
from hara_viz.types import GroupKey
from hara_viz.ui import data
from hara_viz.ui.click_table import click_table
from hara_viz.ui.compare_choice import Chosen
from hara_viz.ui.compare_reads import ask, asked, credit_step, take_steps
from hara_viz.ui.quote import words_of_span
from hara_viz.ui.words import one_line

_LABELS = {"word": "Words", "step": "Steps", "position": "Positions"}
_MOST = 40
_SURE = 0.05


def patterns_view(chosen: Chosen) -> None:
    """A button, then the table of one checkpoint beside the other's figures."""
    names = list(dict.fromkeys((chosen.a.place.run, chosen.b.place.run)))
    steps = [credit_step(chosen.runs[name]) for name in names]
    st.caption(
        "Novelty is standardised inside its outcome class (z); an element's z is the mean over "
        "problems, with a 95 % t interval over problems. Numbers are written #."
    )
    missing = any(step.result() is None for step in steps)
    if missing and not (asked("patterns") or asked("novelty")):
        groups = sum(len(data.run_table(name).groups) for name in names)
        st.button(
            f"Compute the novelty of {groups} groups of A and B",
            key="compare.patterns.go",
            on_click=ask,
            args=("patterns",),
        )
        return
    if not take_steps(steps, "Computing credit", "compare.patterns.read"):
        return
    readings: list[CreditReading | None] = [step.result() for step in steps]
    a, b = readings[0], readings[-1]
    if a is None or b is None:
        return
    letter, kind, outcome, sure = _choices()
    own, other = (a, b) if letter == "A" else (b, a)
    checkpoint = chosen.a if letter == "A" else chosen.b
    table = chosen_patterns(own, other, kind, outcome == "right", sure)
    if table.empty:
        st.caption(
            "Nothing is novel often enough to be sure. Look at all, at the other outcome, or "
            "sample more problems: an element must occur in three."
        )
        return
    shown = table.head(_MOST)
    run = checkpoint.place.run
    click_table(
        pattern_frame(shown, run, letter),
        [_target(chosen, run, row) for row in shown.to_dict("records")],
        key="compare.patterns",
        max_rows=16,
        columns=_COLUMNS,
    )
    st.caption(
        f"{len(shown)} of {len(table)}, the surest first (by the lower end of the interval). q: "
        "expected share of false findings among those at least as sure (Benjamini-Hochberg within "
        "kind and outcome). A click goes to the example."
    )


def chosen_patterns(
    own: CreditReading, other: CreditReading, kind: Kind, success: bool, sure: bool
) -> pd.DataFrame:
    """The patterns of one kind and outcome, with z and n of the other checkpoint beside. Pure."""
    table = own.patterns[(own.patterns["kind"] == kind) & (own.patterns["success"] == success)]
    if sure:
        table = table[(table["q"] <= _SURE) & (table["z"] > 0)]
    beside = other.patterns[
        (other.patterns["kind"] == kind) & (other.patterns["success"] == success)
    ]
    columns = cast("pd.DataFrame", beside[["text", "z", "n_problems"]])
    return cast("pd.DataFrame", table).merge(
        columns, on="text", how="left", suffixes=("", "_other")
    )


def pattern_frame(table: pd.DataFrame, run: str, letter: str) -> pd.DataFrame:
    """What the table shows. Pure but for the cached groups of the examples."""
    return pd.DataFrame(
        {
            "element": [one_line(text, 90) for text in table["text"]],
            "z": table["z"].to_numpy(float),
            "interval": [
                f"[{low:.2f}, {high:.2f}]" if np.isfinite(low) else ""
                for low, high in zip(table["low"], table["high"], strict=True)
            ],
            "q": table["q"].to_numpy(float),
            "times": table["n"].to_numpy(int),
            "problems": table["n_problems"].to_numpy(int),
            "above 0": 100 * table["share"].to_numpy(float),
            "z of the other": table["z_other"].to_numpy(float),
            "example": [_example(run, row) for row in table.to_dict("records")],
        }
    )


def _choices() -> tuple[str, Kind, str, bool]:
    side, what, outcome, sure = st.columns([1, 2, 2, 2], vertical_alignment="bottom")
    letter = side.segmented_control(
        "Of", ["A", "B"], default="B", required=True, key="compare.patterns.side"
    )
    kind = what.segmented_control(
        "What", KINDS, format_func=lambda k: _LABELS[k], default="word", required=True,
        key="compare.patterns.kind",
    )  # fmt: skip
    word = outcome.segmented_control(
        "In rollouts that are", ["right", "wrong"], default="right", required=True,
        key="compare.patterns.outcome",
    )  # fmt: skip
    only = sure.toggle("Consistently novel only (q ≤ 5 %)", True, key="compare.patterns.sure")
    return str(letter), cast("Kind", kind), str(word), bool(only)


def _key(row: dict[object, object]) -> GroupKey:
    step = row["global_step"]
    known = None if step is None or pd.isna(cast("float", step)) else int(cast("int", step))
    return GroupKey(known, str(row["problem_id"]), int(cast("int", row["group"])))


def _target(chosen: Chosen, run: str, row: dict[object, object]) -> dict[str, object]:
    return {
        **chosen.showing(run, _key(row)),
        "sample": int(cast("int", row["sample"])),
        "token": int(cast("int", row["token"])),
    }


def _example(run: str, row: dict[object, object]) -> str:
    group = data.group(run, _key(row))
    rollout = next(r for r in group.rollouts if r.sample == row["sample"])
    token = int(cast("int", row["token"]))
    before, inside, after = words_of_span(rollout, token, token + 1, 24)
    return f"{before}[{inside}]{after}"


_COLUMNS = {
    "element": st.column_config.TextColumn("Element", width=210),
    "z": st.column_config.NumberColumn("z", format="%+.2f", width=54),
    "interval": st.column_config.TextColumn("95 %", width=96),
    "q": st.column_config.NumberColumn("q", format="%.4f", width=64),
    "times": st.column_config.NumberColumn("Times", width=50),
    "problems": st.column_config.NumberColumn("Problems", width=60),
    "above 0": st.column_config.NumberColumn(
        "Above 0", format="%.0f %%", width=60, help="Share of the problems where its mean z is > 0"
    ),
    "z of the other": st.column_config.NumberColumn(
        "z, other", format="%+.2f", width=64, help="Under the other checkpoint; empty: rarer there"
    ),
    "example": st.column_config.TextColumn("Most novel example", width=300),
}
