"""Which runs exist, reading one, and which credit it keeps: the pages' door to the store."""

from hara_viz.store import CreditInfo, Run, RunSummary, list_credit, list_runs, open_run

__all__ = ["CreditInfo", "Run", "RunSummary", "list_credit", "list_runs", "open_run"]
