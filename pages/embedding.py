"""Where do the states lie, and which tokens are neighbours?"""

import streamlit as st

from hara_viz.ui.aligned_data import shown_aligned
from hara_viz.ui.aligned_view import aligned_view
from hara_viz.ui.empty import explain_no_group
from hara_viz.ui.frame import inside_frame
from hara_viz.ui.group_view import selected_group
from hara_viz.ui.heatmap import beside_text, text_below
from hara_viz.ui.joint_data import shown_joint
from hara_viz.ui.joint_view import joint_lasso, joint_view
from hara_viz.ui.lasso import lasso_table
from hara_viz.ui.link_notes import link_notes
from hara_viz.ui.map_data import shown_map
from hara_viz.ui.map_form import GROUP, map_form
from hara_viz.ui.map_quality import quality_figures
from hara_viz.ui.map_view import map_view
from hara_viz.ui.series import offer_reading

inside_frame()
link_notes()
view = selected_group()
if view is None:
    explain_no_group()
    st.stop()

form = map_form(view)
if form.text is not None:
    offer_reading(view, form.text)
    aligned = shown_aligned(view, form, form.text) if form.text.is_alignable else None
    if aligned is not None:
        with beside_text(view):
            aligned_view(aligned)
        lasso_table(aligned.shown)
if form.is_joint:
    joint = shown_joint(view, form)
    if joint is not None:
        joint_view(joint, view)
        joint_lasso(joint, view)
        text_below(view)
if form.scope != GROUP:
    st.stop()

shown = shown_map(view, form)
if shown is not None:
    with beside_text(view):
        map_view(shown)
    quality_figures(shown)
    lasso_table(shown)
