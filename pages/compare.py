"""What changed between checkpoints or methods?"""

import streamlit as st

from hara_viz.ui.compare_choice import chosen_runs
from hara_viz.ui.compare_curves import curves_view
from hara_viz.ui.compare_drift import drift_view
from hara_viz.ui.compare_methods import methods_view
from hara_viz.ui.compare_patterns import patterns_view
from hara_viz.ui.compare_problems import problems_view
from hara_viz.ui.compare_same import same_problem_view
from hara_viz.ui.frame import inside_frame
from hara_viz.ui.link_notes import link_notes

VIEWS = {
    "Curves": curves_view,
    "Problems": problems_view,
    "One problem": same_problem_view,
    "Drift": drift_view,
    "Credit methods": methods_view,
    "Patterns": patterns_view,
}

inside_frame()
link_notes()
chosen = chosen_runs()
if chosen is None:
    st.stop()

name = st.segmented_control(
    "View",
    list(VIEWS),
    default="Curves",
    required=True,
    key="compare.view",
    label_visibility="collapsed",
)
VIEWS[name](chosen)
