"""Which runs exist, and reading one: the pages' door to the store."""

from hara_viz.store import Annotation, Kind, Run, RunSummary, annotate, list_runs, open_run

__all__ = ["Annotation", "Kind", "Run", "RunSummary", "annotate", "list_runs", "open_run"]
