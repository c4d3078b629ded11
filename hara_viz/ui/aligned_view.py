"""One map for each checkpoint that read the text: a slider between them, and their figures."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from hara_viz.components.embedding_map import MapSlice, encode
from hara_viz.ui.aligned_data import ShownAligned
from hara_viz.ui.bus import heard
from hara_viz.ui.lasso import take_lasso
from hara_viz.ui.map_anchors import anchor_note
from hara_viz.ui.map_paths import take_path
from hara_viz.ui.map_view import KEY, embedding_map, in_focus, map_frame
from hara_viz.ui.words import count, inert

_KEPT = (
    "Mean share of a token's nearest neighbours under the checkpoint before that are among its "
    "nearest under this one: {}. What changes on the map alone is the drawing's doing."
)


def aligned_view(aligned: ShownAligned) -> None:
    """The maps, what was done to get there, and their figures."""
    slices = tuple(
        MapSlice(reader.label, shown[:, 0], shown[:, 1])
        for reader, shown in zip(aligned.readers, aligned.found.maps, strict=True)
    )
    frame = replace(map_frame(aligned.shown), slices=slices, slice=aligned.first)
    embedding_map(
        key=KEY,
        data=encode(frame),
        on_lasso_change=lambda: take_lasso(heard(KEY, "lasso")),
        on_path_change=lambda: take_path(heard(KEY, "path"), aligned.shown.name),
    )
    st.caption(" ".join(about_aligned(aligned, len(frame.anchors))))
    if aligned.found.figures:
        _figures(aligned)


def about_aligned(aligned: ShownAligned, n_anchors: int) -> list[str]:
    """Sentences on aligned maps: what is the same on all, and what may be read off them."""
    found, form = aligned.found, aligned.shown.form
    what = "tokens" if form.granularity == "token" else "reasoning steps (mean states)"
    writer = next((reader for reader in aligned.readers if reader.is_writer), None)
    by = "" if writer is None else f" that {inert(writer.label)} wrote"
    kind = "AlignedUMAP" if found.method == "umap" else "PCA"
    said = [
        f"{kind} of the same {len(found.points):,} {what} of this group{by}, as "
        f"{count(len(aligned.readers), 'checkpoint')} of its series read them by teacher forcing, "
        f"layer {aligned.layer}."
    ]
    if found.method == "umap":
        said.append(
            "One map for each, every point tied to itself on the maps before and after: what moves "
            "against its surroundings has changed for the model. How far apart two checkpoints lie "
            "cannot be seen here."
        )
    else:
        said.append(
            "One set of axes for all: a drift of the basis from one checkpoint to the next shows "
            "as movement of everything. AlignedUMAP leaves it out."
        )
    said += [f"{inert(note)}." for note in found.notes]
    said.append("Colours are those of the checkpoint that wrote the text.")
    said.append(anchor_note(aligned.shown.view.config, len(in_focus(aligned.shown)), n_anchors))
    return said


def figures_frame(aligned: ShownAligned) -> pd.DataFrame:
    """What the table of the maps shows. Pure."""
    return pd.DataFrame(
        [
            {
                "checkpoint": reader.label + (" (wrote it)" if reader.is_writer else ""),
                "trustworthiness": one.quality.trustworthiness,
                "neighbours on the map": 100 * one.quality.overlap,
                "states like before": None if one.states_kept is None else 100 * one.states_kept,
                "map like before": None if one.map_kept is None else 100 * one.map_kept,
            }
            for reader, one in zip(aligned.readers, aligned.found.figures, strict=True)
        ]
    )


def _figures(aligned: ShownAligned) -> None:
    percent = "%.0f %%"
    k = aligned.found.figures[0].quality.k
    column = st.column_config.NumberColumn
    st.dataframe(
        figures_frame(aligned),
        hide_index=True,
        key="map.aligned",
        placeholder="–",
        row_height=28,
        column_config={
            "trustworthiness": column(
                format="%.3f",
                help="Falls when points are drawn side by side that are far apart among the states",
            ),
            "neighbours on the map": column(
                format=percent,
                help=f"How many of a point's {k} nearest states are among its {k} on the map",
            ),
            "states like before": column(format=percent, help=_KEPT.format("among the states")),
            "map like before": column(format=percent, help=_KEPT.format("on the map")),
        },
    )
