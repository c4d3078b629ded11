"""Two rollouts against each other, through the barycenters that they are mapped on."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.components.v2 import component

from hara_viz.analysis.composition import Composition, compose, counterpart_gaps
from hara_viz.backend.transport import ClassAtoms, row_values
from hara_viz.components.rollout_pair import PairFrame, assets, encode, pair_side
from hara_viz.components.shared.cells import shown_cells
from hara_viz.ui import data, state
from hara_viz.ui.own_tokens import own_tokens
from hara_viz.ui.plan_view import rollout_label
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import number

KEY, _OTHER = "pair", "pair.other"

_parts = assets()
_pair = component("hara_rollout_pair", html=_parts.html, css=_parts.css, js=_parts.js)


def pair_view(shown: TransportView) -> None:
    """A second rollout to choose, and both texts; or why there is no pair."""
    others = pair_rows(shown)
    if shown.row is None or not others:
        st.info(
            "Two rollouts are compared through barycenters, so both need a plan onto one. "
            "Choose a rollout of an outcome with at least two rollouts above."
        )
        return
    samples = [shown.view.samples[row] for row in others]
    if st.session_state.get(_OTHER) not in samples:
        st.session_state[_OTHER] = samples[0]
    choice, told = st.columns([2, 5], gap="medium", vertical_alignment="center")
    choice.selectbox(
        "Against rollout", samples, key=_OTHER, format_func=lambda s: rollout_label(shown, s)
    )
    other = shown.view.samples.index(st.session_state[_OTHER])
    view = shown.view
    stamp, config = data.run_stamp(view.run_name), shown.transport.found.config.to_json()
    identity = (view.run_name, stamp, view.key, config, state.current().layer)
    frame, gaps = _frame(*identity, shown.row, other, _shown=shown)
    told.text(
        f"Mean distance of a token to its counterparts: {number(gaps[0], 4)} from here to there, "
        f"{number(gaps[1], 4)} back."
    )
    _pair(key=KEY, data=frame)
    st.caption(
        "Both plans are composed: a token's counterparts are the tokens of the other rollout that "
        "flow into the same atoms. Rollouts of different outcomes meet through the matching of the "
        "two barycenters."
    )


def pair_rows(shown: TransportView) -> list[int]:
    """Rows that the rollout shown can be compared with, those of the other outcome first. Pure."""
    own = shown.transport.own
    held = {row: success for success, atoms in own.items() for row in atoms.rows}
    if shown.row not in held:
        return []
    here = held[shown.row]
    return sorted((row for row in held if row != shown.row), key=lambda r: (held[r] == here, r))


def composed(shown: TransportView, row: int, other: int) -> Composition:
    """The plans of two rows onto their classes' own barycenters, put together. Pure."""
    first, second = _class_of(shown, row), _class_of(shown, other)
    matching = shown.transport.matching
    plan = None
    if first.success != second.success:
        assert matching is not None  # both outcomes have a barycenter
        plan = matching.plan if first.success else matching.plan.T
    return compose(first.plans[first.rows.index(row)], second.plans[second.rows.index(other)], plan)


def _class_of(shown: TransportView, row: int) -> ClassAtoms:
    return next(atoms for atoms in shown.transport.own.values() if row in atoms.rows)


@st.cache_data(max_entries=16, show_spinner=False)
def _frame(
    run: str,
    stamp: int,
    key: tuple[int | None, str, int],
    config: str,
    layer: int | None,
    row: int,
    other: int,
    _shown: TransportView,
) -> tuple[bytes, tuple[float, float]]:
    """The frame, and the mean gap of either side."""
    pair = composed(_shown, row, other)
    values = row_values(_shown.view.run, _shown.transport.found, (row, other))
    gaps = counterpart_gaps(pair, values[row][0], values[other][0])
    checkpoint = _shown.view.run.info.checkpoint
    special = checkpoint.special_ids if checkpoint else ()
    sides = []
    for place, shares, apart in ((row, pair.first, gaps[0]), (other, pair.second, gaps[1])):
        rollout = _shown.view.group.rollouts[place]
        sides.append(
            pair_side(
                sample=rollout.sample,
                success=_shown.view.success(rollout),
                cells=shown_cells(rollout, special),
                own=own_tokens(rollout),
                shares=shares,
                gaps=apart,
            )
        )
    means = float(np.mean(gaps[0])), float(np.mean(gaps[1]))
    return encode(PairFrame(first=sides[0], second=sides[1])), means
