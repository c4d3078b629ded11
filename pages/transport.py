"""How does a rollout map on its barycenter, and what does the barycenter say?"""

import streamlit as st

from hara_viz.ui.atom_tables import atom_tables
from hara_viz.ui.barycenter_view import barycenter_view
from hara_viz.ui.doubt_panel import doubt_panel
from hara_viz.ui.empty import explain_no_group
from hara_viz.ui.exact_panel import exact_panel
from hara_viz.ui.frame import inside_frame
from hara_viz.ui.group_view import selected_group
from hara_viz.ui.link_notes import link_notes
from hara_viz.ui.pair_table import pair_table
from hara_viz.ui.pair_view import pair_view
from hara_viz.ui.plan_view import plan_view, reference_note, rollout_choice
from hara_viz.ui.sensitivity_panel import sensitivity_panel
from hara_viz.ui.solver_panel import health_badges, refused_note, solver_panel
from hara_viz.ui.transport_view import transport_view

inside_frame()
link_notes()
view = selected_group()
if view is None:
    explain_no_group()
    st.stop()
shown = transport_view(view)
if shown is None:
    refused_note(view.refused, view.run)
    st.stop()

rollout_choice(shown)
health_badges(shown)
reference_note(shown)
plan, text, pair, noise, solver, exact = st.tabs(
    ["Plan", "What it usually does", "Two rollouts", "Noise", "Solver", "Against exact FGW"]
)
with plan:
    plan_view(shown)
    pair_table(shown)
with text:
    barycenter_view(shown)
    with st.expander("In figures"):
        atom_tables(shown)
with pair:
    pair_view(shown)
with noise:
    doubt_panel(shown)
with solver:
    solver_panel(shown)
    sensitivity_panel(shown)
with exact:
    exact_panel(shown)
