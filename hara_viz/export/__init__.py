"""EXPORT: what leaves the app as a file.

html   a group as one self-contained page: the app's heatmap and frame, opened from disk
page   the parts of such a page: policy, styles, the few lines that mount the component

Nothing here knows Streamlit.
"""

from hara_viz.export.html import export_group, group_page

__all__ = ["export_group", "group_page"]
