"""The pairs of token and atom that cost most, as a table that leads to both texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from hara_viz.analysis.plan_pairs import PlanPair, top_pairs
from hara_viz.backend.transport import row_values
from hara_viz.ui import data, state
from hara_viz.ui.export_buttons import origin, table_downloads
from hara_viz.ui.own_tokens import completion_token, own_tokens
from hara_viz.ui.quote import words_at
from hara_viz.ui.token_table import Column, Spot, token_table
from hara_viz.ui.transport_view import TransportView

_TOP = 12
_COLUMNS = (
    Column("here", 250, label="this rollout"),
    Column("cost", 64, ".4f", help="Part of the token's novelty that this atom stands for"),
    Column("of all", 58, ".1%", help="Of the cost of the whole plan"),
    Column("structure", 74, ".1%", help="Share of structure in the pair's cost"),
    Column("takes", 58, ".0%", help="Share of the token's mass that goes to the atom"),
    Column("atom", 50, help="Column of the plan"),
    Column(
        "there",
        270,
        label="what stands for the atom",
        help="The nearest real token of another rollout; a click on this cell goes there",
    ),
)


def pair_table(shown: TransportView) -> None:
    """What makes this rollout expensive; silent where there is no plan."""
    if shown.row is None or shown.target is None or shown.transport.plan(shown.row) is None:
        return
    view = shown.view
    stamp, config = data.run_stamp(view.run_name), shown.transport.found.config.to_json()
    identity = (view.run_name, stamp, view.key, config, state.current().layer)
    pairs = _pairs(*identity, shown.row, _shown=shown)
    here, there = pair_spots(shown, pairs)
    frame = pair_frame(shown, pairs)
    st.markdown("**Pairs that cost most**")
    token_table(
        frame,
        [[spot] for spot in here],
        key="pairs.top",
        columns=_COLUMNS,
        own={"there": there},
    )
    sample = view.group.rollouts[shown.row].sample
    table_downloads(
        lambda: frame, lambda: origin(view), name=f"{view.file_stem}-rollout{sample}-pairs"
    )
    st.caption(
        "A token's novelty is a sum over the atoms that it flows into; these are its largest terms "
        "in this rollout. Click a row to go to the token, or its last cell to go to the rollout "
        "that stands for the atom."
    )


def pair_frame(shown: TransportView, pairs: Sequence[PlanPair]) -> pd.DataFrame:
    """What `pair_table` shows. Pure."""
    assert shown.row is not None
    rollout = shown.view.group.rollouts[shown.row]
    found = shown.transport.found
    own = own_tokens(rollout)
    total = float(found.of_row(found.credit.novelty, shown.row).double().numpy()[own].sum())
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        mention = _mention(shown, pair.atom)
        rows.append(
            {
                "here": _quoted(words_at(rollout, pair.token)),
                "cost": pair.cost,
                "of all": pair.cost / total if total > 0 else None,
                "structure": pair.structure / pair.cost if pair.cost > 0 else None,
                "takes": pair.share,
                "atom": pair.atom,
                "there": "–"
                if mention is None
                else f"{shown.view.samples[mention[0]]}: "
                + _quoted(words_at(shown.view.group.rollouts[mention[0]], mention[1])),
            }
        )
    return pd.DataFrame(rows)


def pair_spots(
    shown: TransportView, pairs: Sequence[PlanPair]
) -> tuple[list[Spot], list[Spot | None]]:
    """The tokens themselves, and what stands for their atoms. Pure."""
    assert shown.row is not None
    here: list[Spot] = []
    there: list[Spot | None] = []
    for pair in pairs:
        here.append(_spot(shown, shown.row, pair.token))
        mention = _mention(shown, pair.atom)
        there.append(None if mention is None else _spot(shown, *mention))
    return here, there


def _spot(shown: TransportView, row: int, own_token: int) -> Spot:
    rollout = shown.view.group.rollouts[row]
    token = completion_token(rollout, own_token)
    return Spot(rollout.sample, token, token + 1)


def _mention(shown: TransportView, atom: int) -> tuple[int, int] | None:
    """Row and own token that stand for an atom: of another rollout, if one has any."""
    assert shown.target is not None
    (found,) = (a for a in shown.target.atoms if a.index == atom)
    others = [m for m in found.mentions if m.row != shown.row] or list(found.mentions)
    return (others[0].row, others[0].token) if others else None


def _quoted(words: tuple[str, str, str]) -> str:
    return "{}⟦{}⟧{}".format(*words)


@st.cache_data(max_entries=32, show_spinner=False)
def _pairs(
    run: str,
    stamp: int,
    key: tuple[int | None, str, int],
    config: str,
    layer: int | None,
    row: int,
    _shown: TransportView,
) -> tuple[PlanPair, ...]:
    return rollout_pairs(_shown, row)


def rollout_pairs(shown: TransportView, row: int, top: int = _TOP) -> tuple[PlanPair, ...]:
    """The dearest pairs of a row that has a plan. Pure but for reading its states."""
    found, target = shown.transport.found, shown.target
    plan = shown.transport.plan(row)
    assert plan is not None and target is not None
    states, locations = row_values(shown.view.run, found, (row,))[row]
    own = own_tokens(shown.view.group.rollouts[row])
    places = states if found.config.structure == "state" else locations
    return top_pairs(
        plan.double().numpy(),
        states,
        target.centres,
        places,
        _support_structure(shown, row),
        found.of_row(found.credit.novelty_feature, row).double().numpy()[own],
        found.of_row(found.credit.novelty_structure, row).double().numpy()[own],
        top,
    )


def _support_structure(shown: TransportView, row: int) -> np.ndarray:
    """[K, K] distances within the support of a row's plan.

    Where no barycenter of its own was handed out (reference "group"), those of its atoms: they only
    split a cost that is known.
    """
    found, outcome = shown.transport.found, shown.transport.outcome(row)
    assert outcome is not None and shown.target is not None
    reference = found.config.reference
    success = outcome.success != (reference == "opposite_outcome")
    support = next((o for o in found.credit.outcomes if o.success == success), None)
    if reference != "group" and support is not None and support.barycenter is not None:
        return support.barycenter.structure.double().numpy()
    spots = shown.target.centres
    if found.config.structure == "location":
        spots = shown.target.locations[:, None]
    return np.linalg.norm(spots[:, None] - spots[None], axis=-1)
