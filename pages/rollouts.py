"""What did each token of a group earn? The heart of the app."""

import streamlit as st

from hara_viz.ui.among import among_bar
from hara_viz.ui.empty import explain_no_group
from hara_viz.ui.export_buttons import group_downloads
from hara_viz.ui.frame import inside_frame
from hara_viz.ui.group_header import group_header, rollout_table
from hara_viz.ui.group_view import refusal, selected_group
from hara_viz.ui.heatmap import download, heatmap
from hara_viz.ui.inspector import inspector
from hara_viz.ui.link_notes import link_notes
from hara_viz.ui.remarks import remarks
from hara_viz.ui.run_search import run_search
from hara_viz.ui.solver_notes import solver_notes
from hara_viz.ui.spans_table import spans_table

inside_frame()
link_notes()
view = selected_group()
if view is None:
    explain_no_group()
    st.stop()

group_header(view)
refusal(view)
text, pinned = st.columns([5, 2], gap="small")
with text:
    among_bar()
    heatmap(view)
    with st.container(horizontal=True, gap="small"):
        download(view)
        group_downloads(view)
with pinned:
    inspector(view)

spans, rollouts, solver, found, said = st.tabs(
    ["Novel spans", "Rollouts", "Barycenters", "Search the run", "Remarks"],
    key="rollouts.tabs",
)
with spans:
    spans_table(view)
with rollouts:
    rollout_table(view)
with solver:
    solver_notes(view)
with found:
    run_search(view)
with said:
    remarks(view)
