"""The map itself: canvas in the plane, Plotly in space, and how far it can be trusted."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.components.v2 import component

from hara_viz.components.embedding_map import MapAtom, MapFrame, MapRollout, assets, encode
from hara_viz.components.shared.cells import shown_cells
from hara_viz.plots.state_map import state_map_3d
from hara_viz.ui import state
from hara_viz.ui.bus import heard
from hara_viz.ui.export_buttons import CHART
from hara_viz.ui.lasso import take_lasso
from hara_viz.ui.map_anchors import anchor_note, anchored_samples, map_anchors
from hara_viz.ui.map_data import ShownMap, colouring
from hara_viz.ui.map_paths import take_path
from hara_viz.ui.quote import words_of_span
from hara_viz.ui.transport_view import mentions_text, transport_view
from hara_viz.ui.words import inert

KEY = "map"

_parts = assets()
embedding_map = component("hara_embedding_map", html=_parts.html, css=_parts.css, js=_parts.js)


def map_view(shown: ShownMap) -> None:
    """The points, the atoms on top, and what was done to get there."""
    n_anchors = 0
    if shown.form.projection.n_components == 2:
        frame = map_frame(shown)
        n_anchors = len(frame.anchors)
        embedding_map(
            key=KEY,
            data=encode(frame),
            on_lasso_change=lambda: take_lasso(heard(KEY, "lasso")),
            on_path_change=lambda: take_path(heard(KEY, "path"), shown.name),
        )
    else:
        _space(shown)
    st.caption(" ".join(about(shown, n_anchors)))


def map_frame(shown: ShownMap) -> MapFrame:
    """The frame of a map in the plane. Pure but for the selection."""
    points = shown.found.states.points
    row = {sample: i for i, sample in enumerate(shown.view.samples)}
    checkpoint = shown.view.run.info.checkpoint
    special = checkpoint.special_ids if checkpoint else ()
    return MapFrame(
        name=shown.name,
        rollouts=tuple(
            MapRollout(r.sample, shown.view.success(r), shown_cells(r, special))
            for r in shown.view.group.rollouts
        ),
        x=points["x"].to_numpy(),
        y=points["y"].to_numpy(),
        row=np.array([row[sample] for sample in points["sample"]], np.int64),
        token=points["token"].to_numpy(np.int64),
        span=points["n_tokens"].to_numpy(np.int64),
        colouring=colouring(shown),
        atoms=tuple(
            MapAtom(bool(success), int(atom), text, float(x), float(y))
            for success, atom, x, y, text in zip(
                *(shown.found.atoms[name] for name in ("success", "atom", "x", "y")),
                atom_texts(shown),
                strict=True,
            )
        ),
        paths=tuple(row[sample] for sample in state.current().paths if sample in row),
        anchors=map_anchors(points, shown.view.group.rollouts, shown.view.config, in_focus(shown)),
    )


def atom_texts(shown: ShownMap) -> list[str]:
    """The words of each atom on the map."""
    known = transport_view(shown.view)
    texts: list[str] = []
    atoms = shown.found.atoms
    for success, atom in zip(atoms["success"], atoms["atom"], strict=True):
        own = None if known is None else known.transport.own.get(bool(success))
        places = {} if own is None else {a.index: place for place, a in enumerate(own.atoms)}
        place = places.get(int(atom))
        texts.append("" if own is None or place is None else mentions_text(shown.view, own, place))
    return texts


def about(shown: ShownMap, n_anchors: int) -> list[str]:
    """Sentences on the map: method, points left out, quality, atoms, the anchors marked."""
    states, projection = shown.found.states, shown.found.states.projection
    what = "tokens" if shown.form.granularity == "token" else "reasoning steps (mean states)"
    said = [f"{projection.method.upper()} of {len(states.points):,} {what}, layer {states.layer}."]
    if projection.method == "pca":
        shares = " + ".join(f"{100 * share:.0f} %" for share in projection.explained)
        said.append(f"Its axes carry {shares} of the variance.")
    said += [f"{inert(note)}." for note in states.notes]
    if len(shown.found.atoms):
        how = "by PCA's axes" if projection.method == "pca" else "by UMAP's transform"
        said.append(
            f"Diamonds: {len(shown.found.atoms)} barycenter atoms, placed {how}; they took no part "
            "in the fit."
        )
        is_plane = shown.form.projection.n_components == 2
        note = anchor_note(shown.view.config, len(in_focus(shown)), n_anchors)
        said.append(note if is_plane else "Anchors are marked in the plane alone.")
    return said


def in_focus(shown: ShownMap) -> tuple[int, ...]:
    """The rollouts whose anchors are marked. Pure but for the selection."""
    selection = state.current()
    found = anchored_samples(selection.sample, selection.paths)
    return tuple(sample for sample in found if sample in shown.view.samples)


def lit_point(shown: ShownMap) -> int | None:
    """The point that stands for the selected token; None: not among the points. Pure."""
    selection, points = state.current(), shown.found.states.points
    if selection.sample is None or selection.token is None:
        return None
    first, ends = points["token"], points["token"] + points["n_tokens"]
    inside = (first <= selection.token) & (selection.token < ends)
    found = np.flatnonzero((points["sample"] == selection.sample) & inside)
    return int(found[0]) if len(found) else None


def _space(shown: ShownMap) -> None:
    points, colours = shown.found.states.points, colouring(shown)
    rollouts = {rollout.sample: rollout for rollout in shown.view.group.rollouts}
    texts = [
        "{}⟦{}⟧{}".format(*words_of_span(rollouts[sample], token, token + n_tokens))
        + f" · rollout {sample}, token {token}"
        for sample, token, n_tokens in zip(
            points["sample"], points["token"], points["n_tokens"], strict=True
        )
    ]
    figure = state_map_3d(
        points,
        texts,
        colours.values,
        label=colours.label,
        kind=colours.kind,
        domain=colours.domain,
        categories=colours.categories,
        atoms=shown.found.atoms,
        atom_texts=atom_texts(shown),
        lit=lit_point(shown),
    )
    st.plotly_chart(figure, key="map.space", config=CHART)
    st.caption("Points in space show their text, but cannot be picked: the plane can.")
