"""How does credit assignment work? The derivation on a real group, six steps."""

import streamlit as st

from hara_viz.ui.empty import explain_no_group
from hara_viz.ui.frame import inside_frame
from hara_viz.ui.group_view import selected_group
from hara_viz.ui.learn_controls import cases, settings, step_choice
from hara_viz.ui.learn_steps import show_step
from hara_viz.ui.learn_view import learn_view
from hara_viz.ui.link_notes import link_notes

inside_frame()
link_notes()
view = selected_group()
if view is None:
    explain_no_group()
    st.stop()

shown = learn_view(view)
if shown is not None:
    step = step_choice()
    settings(shown)
    show_step(step, shown)
    cases(shown)
