"""How much the ranking of the tokens depends on α, K, ε and the layer, as four small strips."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from hara_viz.backend.sensitivity import LAYER, Agreement, Variation, agreement_of, variations
from hara_viz.plots.transport_charts import sensitivity_strip
from hara_viz.ui import data, state
from hara_viz.ui.batch_work import Call, batch, begin, is_begun
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import number

TITLES = {
    "alpha": "α · share of structure",
    "n_support": "K · atoms",
    "epsilon": "ε · blur",
    LAYER: "layer",
}


def sensitivity_panel(shown: TransportView) -> None:
    """A button, then the strips; the numbers are computed beside the app."""
    st.markdown("**What if it were set otherwise?**")
    if not any(outcome.plans for outcome in shown.transport.found.credit.outcomes):
        st.caption("No outcome of this group has two rollouts, so there is nothing to vary.")
        return
    tried = tried_here(shown)
    calls = sensitivity_calls(shown, tried)
    if not is_begun(calls):
        st.button(
            f"Try {len(calls)} other settings",
            key="sensitivity.go",
            help="Solves this group once for each",
            on_click=begin,
            args=(calls,),
        )
        return
    found = batch(calls, message="Solving with other settings", key="sensitivity")
    if found is None:
        return
    frame = sensitivity_frame(shown, found)
    low = min([0.5, *(agreement - 0.02 for agreement in frame["agreement"].tolist())])
    fields = list(dict.fromkeys(variation.field for variation in tried))
    for place, field in zip(st.columns(len(fields), gap="small"), fields, strict=True):
        with place:
            st.caption(TITLES[field])
            own = frame[frame["field"] == field]
            st.vega_lite_chart(own, sensitivity_strip(low), height=170, key=f"sensitivity.{field}")
    seconds = sorted(each.seconds for each in found)
    st.caption(
        "Spearman rank correlation of the tokens' novelty with the current setting (dashed), in "
        "each outcome (right blue, wrong orange): near 1, the setting hardly matters. Red: that "
        "solve did not converge. One "
        f"solve took {number(seconds[len(seconds) // 2], 2)} s (median)."
    )


def tried_here(shown: TransportView) -> tuple[Variation, ...]:
    """The settings that are tried for this group."""
    found = shown.transport.found
    return variations(found.config, tuple(sorted(shown.view.run.layers)), found.layer)


def sensitivity_calls(shown: TransportView, tried: Sequence[Variation]) -> list[Call]:
    """One call for each. Pure."""
    view = shown.view
    identity = (
        str(view.run.path),
        data.run_stamp(view.run_name),
        tuple(view.key),
        shown.transport.found.config.to_json(),
        state.current().layer,
    )
    return [(agreement_of, (*identity, variation)) for variation in tried]


def sensitivity_frame(shown: TransportView, found: Sequence[Agreement]) -> pd.DataFrame:
    """What the strips show. Pure."""
    config, layer = shown.transport.found.config, shown.transport.found.layer
    rows = []
    for place, each in enumerate(found):
        field, value = each.variation
        here = layer if field == LAYER else getattr(config, field)
        for outcome, agreement in (("right", each.right), ("wrong", each.wrong)):
            if agreement is None:
                continue
            rows.append(
                {
                    "field": field,
                    "value": f"{value:g}" if isinstance(value, float) else str(value),
                    "place": place,
                    "agreement": agreement,
                    "outcome": outcome,
                    "current": value == here,
                    "converged": each.converged,
                }
            )
    columns = ["field", "value", "place", "agreement", "outcome", "current", "converged"]
    return pd.DataFrame(rows, columns=columns)
