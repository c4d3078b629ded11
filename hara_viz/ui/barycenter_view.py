"""Both barycenters as text, side by side, with the matching between them."""

from __future__ import annotations

import streamlit as st
from streamlit.components.v2 import component

from hara_viz.backend.transport import ClassAtoms
from hara_viz.components.barycenter_text import (
    AtomText,
    BarycenterFrame,
    Link,
    Quote,
    Side,
    assets,
    encode,
)
from hara_viz.ui import data, state
from hara_viz.ui.group_view import GroupView
from hara_viz.ui.own_tokens import completion_token
from hara_viz.ui.quote import words_at
from hara_viz.ui.transport_view import TransportView
from hara_viz.ui.words import one_line

KEY = "barycenters"
_QUOTES = 4

_parts = assets()
_text = component("hara_barycenter_text", html=_parts.html, css=_parts.css, js=_parts.js)


def barycenter_view(shown: TransportView) -> None:
    """What the policy usually does when it is right, and when it is wrong."""
    view = shown.view
    stamp, config = data.run_stamp(view.run_name), shown.transport.found.config.to_json()
    frame = _frame(view.run_name, stamp, view.key, config, state.current().layer, _shown=shown)
    _text(key=KEY, data=frame)
    st.caption(
        "Each row is an atom of a barycenter: where it stands, the real tokens whose states come "
        "nearest to it (one per rollout, whose number is in front), and the share of the rollouts "
        "that pass there. Lines join the atoms that an optimal plan between the two barycenters "
        "pairs, in orange where they lie far apart. Click a quote to go to that token."
    )


def barycenter_frame(shown: TransportView) -> BarycenterFrame:
    """What `barycenter_view` shows. Pure."""
    own, matching = shown.transport.own, shown.transport.matching
    right, wrong = (_side(shown.view, success, own.get(success)) for success in (True, False))
    links: tuple[Link, ...] = ()
    if matching is not None:
        first, second = (_places(own[success]) for success in (True, False))
        pairs = [Link(first[k.first], second[k.second], k.share, k.gap) for k in matching.links]
        links = tuple(sorted(pairs))
    return BarycenterFrame(sides=(right, wrong), links=links)


def why_empty(view: GroupView, success: bool) -> str:
    """Why an outcome has no barycenter, and what to do."""
    word = "right" if success else "wrong"
    if not any(view.success(rollout) is success for rollout in view.group.rollouts):
        return f"No rollout of this group is {word}, so there is nothing to average over."
    return (
        f"One {word} rollout alone makes no pattern. Choose a problem with two of them (the list "
        "in the sidebar can show mixed groups only), or sample a larger group."
    )


def _places(atoms: ClassAtoms) -> dict[int, int]:
    """Column of the plans → place in reading order."""
    return {atom.index: place for place, atom in enumerate(atoms.atoms)}


def _side(view: GroupView, success: bool, atoms: ClassAtoms | None) -> Side:
    if atoms is None:
        n_rollouts = sum(view.success(rollout) is success for rollout in view.group.rollouts)
        return Side(success=success, n_rollouts=n_rollouts, empty=why_empty(view, success))
    closest = view.group.rollouts[atoms.closest]
    return Side(
        success=success,
        n_rollouts=len(atoms.rows),
        closest=(closest.sample, one_line(closest.completion_text, 600)),
        atoms=tuple(
            AtomText(
                atom.index,
                atom.location,
                atom.mass * len(atoms.atoms),
                atom.spread,
                atom.coverage,
                tuple(_quote(view, m.row, m.token) for m in atom.mentions[:_QUOTES]),
            )
            for atom in atoms.atoms
        ),
    )


def _quote(view: GroupView, row: int, own_token: int) -> Quote:
    rollout = view.group.rollouts[row]
    token = completion_token(rollout, own_token)
    return Quote(rollout.sample, token, *words_at(rollout, own_token))


@st.cache_data(max_entries=32, show_spinner=False)
def _frame(
    run: str,
    stamp: int,
    key: tuple[int | None, str, int],
    config: str,
    layer: int | None,
    _shown: TransportView,
) -> bytes:
    return encode(barycenter_frame(_shown))
