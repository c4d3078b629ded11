"""Which runs exist, and reading one: the pages' door to the store."""

from hara_viz.store import Run, RunSummary, list_runs, open_run

__all__ = ["Run", "RunSummary", "list_runs", "open_run"]
