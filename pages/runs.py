"""Which runs exist? Start one, watch one grow."""

from hara_viz.ui.frame import inside_frame
from hara_viz.ui.link_notes import link_notes
from hara_viz.ui.run_table import run_table

inside_frame()
link_notes()
run_table()
