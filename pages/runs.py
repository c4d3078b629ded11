"""Which runs exist? Start one, watch one grow."""

from hara_viz.ui.link_notes import link_notes
from hara_viz.ui.run_table import run_table

link_notes()
run_table()
