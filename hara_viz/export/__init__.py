"""EXPORT: what leaves the app as a file.

html     a group as one self-contained page: the app's heatmap and frame, opened from disk
picture  the same heatmap as SVG (heatmap_svg) or PNG
weights  per-token weights aligned to token ids, for a trainer: Parquet or JSONL
tables   groups, rollouts, tokens as CSV (sheets: safe for spreadsheets) or Parquet
dataset  a run as a Hugging Face dataset
report   a comparison of runs as one page without script; report_svg draws its figures
page     the parts of such a page: policy, styles, the few lines that mount the component
origin   which run, version and credit a file is of, and how to cite the method
place    where a file goes: in one piece, and never over another by mistake

Nothing here knows Streamlit.
"""

from hara_viz.export.dataset import export_dataset
from hara_viz.export.html import export_group, group_credit_of, group_page
from hara_viz.export.origin import Origin, origin_of
from hara_viz.export.picture import export_picture, group_svg
from hara_viz.export.report import report_page, write_report
from hara_viz.export.sheets import csv_bytes, parquet_bytes
from hara_viz.export.tables import export_table, tokens_table
from hara_viz.export.weights import export_weights, rows_of, weights_bytes

__all__ = [
    "Origin",
    "csv_bytes",
    "export_dataset",
    "export_group",
    "export_picture",
    "export_table",
    "export_weights",
    "group_credit_of",
    "group_page",
    "group_svg",
    "origin_of",
    "parquet_bytes",
    "report_page",
    "rows_of",
    "tokens_table",
    "weights_bytes",
    "write_report",
]
