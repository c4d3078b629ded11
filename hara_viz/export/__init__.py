"""EXPORT: what leaves the app as a file.

html   a group as one self-contained page: the app's heatmap and frame, opened from disk
report a comparison of runs as one page without script; report_svg draws its figures
page   the parts of such a page: policy, styles, the few lines that mount the component

Nothing here knows Streamlit.
"""

from hara_viz.export.html import export_group, group_page
from hara_viz.export.report import report_page, write_report

__all__ = ["export_group", "group_page", "report_page", "write_report"]
