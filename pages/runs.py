"""Which runs exist? Start one, import one, watch one grow."""

import streamlit as st

from hara_viz.ui.frame import inside_frame
from hara_viz.ui.import_form import import_form
from hara_viz.ui.job_panel import job_panel
from hara_viz.ui.link_notes import link_notes
from hara_viz.ui.run_table import run_table
from hara_viz.ui.run_work import run_work
from hara_viz.ui.start_run import start_run

inside_frame()
link_notes()
st.subheader("Runs")
run_table()
st.subheader("Jobs")
job_panel()
st.subheader("Start a run")
start_run()
import_form()
run_work()
