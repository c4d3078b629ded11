"""One problem under both checkpoints: heatmaps in one colour domain, tokens aligned, usage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.components.v2 import component

from hara_viz.analysis.spans import TokenSpan
from hara_viz.backend.compare_tokens import Alignment, Usage, align_at, usage_at
from hara_viz.backend.credit import GroupCredit
from hara_viz.components.shared.cells import shown_cells
from hara_viz.components.token_heatmap import assets, encode, frame_of, shared_domains
from hara_viz.components.transport_plan import AtomLabel, plan_frame
from hara_viz.components.transport_plan import assets as plan_assets
from hara_viz.components.transport_plan import encode as encode_plan
from hara_viz.types import Rollout
from hara_viz.ui import data, state
from hara_viz.ui.bus import take
from hara_viz.ui.click_table import click_table
from hara_viz.ui.compare_choice import Chosen
from hara_viz.ui.compare_sides import SideView, both_sides, config_of, credit_of_side
from hara_viz.ui.compare_text import fixed_text
from hara_viz.ui.own_tokens import completion_token, own_tokens
from hara_viz.ui.quote import words_of_span
from hara_viz.ui.side_work import computed
from hara_viz.ui.words import inert, number, one_line

_parts, _plan_parts = assets(), plan_assets()
_heatmap = component("hara_compared_heatmap", html=_parts.html, css=_parts.css, js=_parts.js)
_plan = component(
    "hara_aligned_plan", html=_plan_parts.html, css=_plan_parts.css, js=_plan_parts.js
)


def same_problem_view(chosen: Chosen) -> None:
    """Side by side, then what of it was asked for."""
    sides = both_sides(chosen)
    if sides is None:
        return
    side_by_side(sides)
    aligned, used, text = st.tabs(
        ["Aligned tokens", "What became usual", "A fixed text"],
        key="compare.same",
        on_change="rerun",
    )
    with aligned:
        if aligned.open:
            _alignment(sides)
    with used:
        if used.open:
            _usage(chosen, sides)
    with text:
        if text.open:
            fixed_text(chosen, sides)


def side_by_side(sides: tuple[SideView, SideView]) -> None:
    """Both groups as running text, their colours on one scale."""
    credits = [credit_of_side(side) for side in sides]
    if credits[0] is None or credits[1] is None:
        return
    frames = _frames(
        *(_identity(side) for side in sides), _found=(credits[0], credits[1]), _sides=sides
    )
    for column, side, frame in zip(st.columns(2, gap="small"), sides, frames, strict=True):
        key = f"compare.heat.{side.letter}"
        with column:
            outcomes = [side.success(r) for r in side.group.rollouts]
            st.markdown(
                f"**{side.letter}** {inert(side.checkpoint.label)} · "
                f"{outcomes.count(True)} of {len(outcomes)} right"
            )
            _heatmap(
                key=key,
                data=frame,
                on_pick_change=lambda key=key: take(st.session_state[key]["pick"]),
                on_view_change=lambda key=key: take(st.session_state[key]["view"]),
                on_problem_change=lambda: None,
            )


def _alignment(sides: tuple[SideView, SideView]) -> None:
    a, b = sides
    left, right = st.columns(2, gap="small")
    samples = [
        column.selectbox(
            f"Rollout of {side.letter}",
            [r.sample for r in side.group.rollouts],
            index=_first(side),
            format_func=side.label,
            key=f"compare.rollout.{side.letter}.{side.key.problem_id}.{side.name}",
        )
        for column, side in zip((left, right), sides, strict=True)
    ]
    found: Alignment | None = computed(
        align_at,
        a.side,
        b.side,
        int(samples[0]),
        int(samples[1]),
        config_of(b.checkpoint).to_json(),
        message="Aligning the tokens; the first time also fitting the spaces …",
        key="compare.align",
    )
    if found is None:
        return
    rollouts = a.rollout(int(samples[0])), b.rollout(int(samples[1]))
    _plan(key="compare.plan", data=aligned_frame(found, sides, rollouts))
    st.caption(inert(found.space.sentence, 800))
    st.caption(
        "Columns are tokens of B in time, rows tokens of A: where the mass of a token of B goes. "
        f"Cost of the plan {number(float((found.feature + found.structure).mean()), 4)}, structure "
        f"part {number(float(found.structure.mean()), 4)}."
    )


def aligned_frame(
    found: Alignment, sides: tuple[SideView, SideView], rollouts: tuple[Rollout, Rollout]
) -> bytes:
    """The plan from a rollout of B to one of A, as the transport component takes it."""
    of_a, of_b = rollouts
    names = _token_texts(of_a, sides[0].special_ids)
    own_a, own_b = own_tokens(of_a), own_tokens(of_b)
    arrived = found.plan.sum(axis=0)
    places = np.arange(len(arrived)) / max(len(arrived) - 1, 1)
    atoms = tuple(
        AtomLabel(i, float(places[i]), float(arrived[i]), 0.0, names[token])
        for i, token in enumerate(np.flatnonzero(own_a).tolist())
    )
    feature, structure = (_spread(part, own_b) for part in (found.feature, found.structure))
    return encode_plan(
        plan_frame(
            sample=of_b.sample,
            success=sides[1].success(of_b),
            cells=shown_cells(of_b, sides[1].special_ids),
            atoms=atoms,
            plan=found.plan,
            own=own_b,
            feature=feature,
            structure=structure,
        )
    )


def _usage(chosen: Chosen, sides: tuple[SideView, SideView]) -> None:
    outcome = st.segmented_control(
        "Rollouts that are", ["right", "wrong"], default="right", required=True, key="compare.usage"
    )
    found: tuple[Usage, Any] | None = computed(
        usage_at,
        sides[0].side,
        sides[1].side,
        outcome == "right",
        config_of(sides[1].checkpoint).to_json(),
        message="Holding both groups against both barycenters …",
        key="compare.usage.work",
    )
    if found is None:
        return
    usage, space = found
    a, b = sides
    tables = (
        ("Became usual", "in B: novel for A's pattern, usual for B's", b, usage.became_usual()),
        ("No longer novel", "in A: novel there, usual for B", a, usage.no_longer_novel()),
        ("Out of use", "in A: usual there, novel for B", a, usage.out_of_use()),
    )
    for title, meaning, side, spans in tables:
        st.markdown(f"**{title}** · {meaning}")
        if not spans:
            st.caption("Nothing of the kind.")
            continue
        click_table(
            usage_frame(side, spans),
            [_span_target(chosen, side, span) for span in spans],
            key=f"compare.usage.{title}",
            max_rows=8,
            columns={
                "rollout": st.column_config.NumberColumn(width=60),
                "tokens": st.column_config.TextColumn(width=80),
                "change": st.column_config.NumberColumn(format="%.3f", width=70),
            },
        )
    st.caption(
        "Change: mean difference of the tokens' ranks in novelty, from 0 to 1, between the two "
        "barycenters; each rollout is held against the other rollouts of its class. "
        + inert(space.sentence, 800)
    )


def usage_frame(side: SideView, spans: Sequence[TokenSpan], *, own: bool = True) -> pd.DataFrame:
    """What a table of spans shows; `own`: they count own tokens, else all. Pure."""
    rows = []
    for span in spans:
        rollout = side.group.rollouts[span.row]
        ends = (span.start, span.stop - 1)
        start, last = (completion_token(rollout, t) for t in ends) if own else ends
        stop = last + 1
        before, inside, after = words_of_span(rollout, start, stop)
        rows.append(
            {
                "rollout": rollout.sample,
                "tokens": f"{start}–{stop - 1}",
                "before": before,
                "span": inside,
                "after": after,
                "change": span.mean,
            }
        )
    return pd.DataFrame(rows)


def _span_target(chosen: Chosen, side: SideView, span: TokenSpan) -> dict[str, object]:
    rollout = side.group.rollouts[span.row]
    return {
        **chosen.showing(side.name, side.key),
        "sample": rollout.sample,
        "token": completion_token(rollout, span.start),
    }


def _first(side: SideView) -> int:
    """The rollout to begin with: the selected one, else the first right one."""
    samples = [r.sample for r in side.group.rollouts]
    selected = state.current().sample
    if selected is not None and selected in samples:
        return samples.index(selected)
    right = [i for i, r in enumerate(side.group.rollouts) if side.success(r)]
    return right[0] if right else 0


def _identity(side: SideView) -> tuple[object, ...]:
    return (
        side.name,
        data.run_stamp(side.name),
        tuple(side.key),
        config_of(side.checkpoint).to_json(),
        state.current().layer,
    )


@st.cache_resource(max_entries=24, show_spinner=False)
def _frames(
    a: tuple[object, ...],
    b: tuple[object, ...],
    _found: tuple[GroupCredit, GroupCredit],
    _sides: tuple[SideView, SideView],
) -> tuple[bytes, bytes]:
    frames = []
    for found, side in zip(_found, _sides, strict=True):
        frames.append(
            frame_of(
                found.group,
                found.credit,
                special_ids=side.special_ids,
                success_threshold=found.config.success_threshold,
            )
        )
    domains = shared_domains(frames)
    first, second = (encode(replace(frame, domains=domains)) for frame in frames)
    return first, second


def _token_texts(rollout: Rollout, special_ids: Sequence[int]) -> list[str]:
    """What stands for each token of a completion, on one line."""
    texts: list[str] = []
    for cell in shown_cells(rollout, special_ids):
        texts += [one_line(cell.text, 24) or "⏎"] * cell.n_tokens
    return texts


def _spread(values: np.ndarray, own: np.ndarray) -> np.ndarray:
    full = np.full(len(own), np.nan)
    full[own] = values
    return full
