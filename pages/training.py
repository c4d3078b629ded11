"""What happened in one step of a training, and is it what is computed here?"""

import streamlit as st

from hara_viz.ui.empty import explain_no_group
from hara_viz.ui.frame import inside_frame
from hara_viz.ui.link_notes import link_notes
from hara_viz.ui.training_curve import curve
from hara_viz.ui.training_data import selected_step
from hara_viz.ui.training_empty import explain_no_training, is_recorded
from hara_viz.ui.training_follow import follow_bar, go_to_newest
from hara_viz.ui.training_parity import parity_panel
from hara_viz.ui.training_step import step_head
from hara_viz.ui.training_tables import clipped_tab, figures, group_tab, odd_tab

inside_frame()
link_notes()
view = selected_step()
if view is None:
    explain_no_group()
    st.stop()

if not is_recorded(view):
    explain_no_training()
go_to_newest(view)
follow_bar(view)
curve(view)
step_head(view)
figures(view)
groups, clipped, odd, parity = st.tabs(["Groups", "Clipped weights", "Odd rewards", "Parity"])
with groups:
    group_tab(view)
with clipped:
    clipped_tab(view)
with odd:
    odd_tab(view)
with parity:
    parity_panel(view)
