"""Exact FGW on demand: how well the fast solver ranks the tokens, and how well it could."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from hara_viz.backend.exact import (
    MAX_LIVE_TOKENS,
    MAX_LIVE_TOKENS_SQUARED,
    ExactCheck,
    check_exact,
)
from hara_viz.ui import state
from hara_viz.ui.plan_view import own_tokens
from hara_viz.ui.side_work import computed, is_computed
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import number

_ASKED = "hara.exact_asked"


def exact_panel(shown: TransportView) -> None:
    """A button, then the comparison; or why there is none for this group."""
    st.caption(
        "Exact FGW (POT, float64) solves the same problem without the anchors. A barycenter is not "
        "unique, so two exact solves from different starts rank the tokens differently too: that "
        "agreement is the ceiling by which the fast solver is to be judged, not 1."
    )
    if not any(outcome.plans for outcome in shown.transport.found.credit.outcomes):
        st.info("No outcome of this group has two rollouts, so there is nothing to solve.")
        return
    lengths = [int(own_tokens(rollout).sum()) for rollout in shown.view.group.rollouts]
    if not small_enough(lengths):
        st.info(
            f"This group has {sum(lengths):,} tokens, the longest rollout {max(lengths):,}. Exact "
            f"FGW grows with the square of the length; here it runs up to {MAX_LIVE_TOKENS:,} "
            "tokens in rollouts of about 190. For larger groups, compute both on the command line "
            "and compare:"
        )
        st.code("hara-viz credit RUN --solver exact", language="bash")
        return
    arguments = (
        str(shown.view.run.path),
        tuple(shown.view.key),
        shown.view.config.to_json(),
        state.current().layer,
    )
    asked = st.session_state.get(_ASKED) == arguments
    if not asked and not is_computed(check_exact, *arguments):
        st.button("Compare with exact FGW", key="exact.go", on_click=_ask, args=(arguments,))
        return
    check = computed(
        check_exact,
        *arguments,
        message="Solving exactly, from two starts; up to a minute …",
        key="exact",
    )
    if check is not None:
        _result(check)


def small_enough(lengths: list[int]) -> bool:
    """Whether exact FGW of rollouts of these lengths takes about a minute at most. Pure."""
    squares = sum(length**2 for length in lengths)
    return sum(lengths) <= MAX_LIVE_TOKENS and squares <= MAX_LIVE_TOKENS_SQUARED


def exact_frame(check: ExactCheck) -> pd.DataFrame:
    """What is shown of a comparison. Pure."""
    return pd.DataFrame(
        {
            "outcome": "right" if row.success else "wrong",
            "rollouts": row.n_rollouts,
            "tokens": row.n_tokens,
            "fast with exact": row.agreement,
            "ceiling: exact with exact": row.ceiling,
        }
        for row in check.rows
    )


def _result(check: ExactCheck) -> None:
    st.dataframe(
        exact_frame(check),
        hide_index=True,
        key="exact.table",
        column_config={
            "fast with exact": st.column_config.NumberColumn(format="%.3f"),
            "ceiling: exact with exact": st.column_config.NumberColumn(format="%.3f"),
        },
    )
    st.caption(
        "Spearman rank correlation of the tokens' novelty within each outcome. Time for the group: "
        f"{number(check.seconds_anchored, 2)} s fast, {number(check.seconds_exact, 2)} s exact."
    )


def _ask(arguments: tuple[object, ...]) -> None:
    st.session_state[_ASKED] = arguments
