"""STORE: runs on disk. Schema, atomic writes, resume, fast summaries.

What a run's directory holds, and which file here knows it:

* `run.json` header.py · `README.md` card.py · `COMPLETE` completion.py
* `rollouts/` schema.py (columns), parquet.py · `states/` states.py
* `groups.parquet` index.py, shown as tables by summaries.py
* `rewards/<version>/` rewards.py, rewards_writer.py · `logprobs/` readings.py
* `credit/<fingerprint>/` credit_info.py, credit_cache.py, credit_tensors.py
* `annotations.jsonl` annotations.py

writer.py writes a run, reader.py reads one, listing.py lists many. files.py, lock.py, layout.py,
text_json.py and roots.py are what they stand on. Nothing here knows models or screens.

What is named here is loaded at its first use: a job that waits for its device, or a list of jobs,
needs the files and locks but neither torch nor pyarrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hara_viz.store.annotations import Annotation, Annotations, Kind, annotate, undo
    from hara_viz.store.credit_cache import CreditWriter, load_credit
    from hara_viz.store.credit_info import CreditInfo, describe_credit, list_credit
    from hara_viz.store.listing import RunSummary, list_runs, summarise_run
    from hara_viz.store.reader import Run, open_run
    from hara_viz.store.readings import Reading, ReadingWriter
    from hara_viz.store.rewards_writer import RewardsWriter
    from hara_viz.store.roots import confine
    from hara_viz.store.schema import SCHEMA_VERSION
    from hara_viz.store.writer import RunWriter

__all__ = [
    "SCHEMA_VERSION",
    "Annotation",
    "Annotations",
    "CreditInfo",
    "CreditWriter",
    "Kind",
    "Reading",
    "ReadingWriter",
    "RewardsWriter",
    "Run",
    "RunSummary",
    "RunWriter",
    "annotate",
    "confine",
    "describe_credit",
    "list_credit",
    "list_runs",
    "load_credit",
    "open_run",
    "summarise_run",
    "undo",
]

_DOOR = {
    "Annotation": "annotations",
    "Annotations": "annotations",
    "Kind": "annotations",
    "annotate": "annotations",
    "undo": "annotations",
    "CreditWriter": "credit_cache",
    "load_credit": "credit_cache",
    "CreditInfo": "credit_info",
    "describe_credit": "credit_info",
    "list_credit": "credit_info",
    "RunSummary": "listing",
    "list_runs": "listing",
    "summarise_run": "listing",
    "Run": "reader",
    "open_run": "reader",
    "Reading": "readings",
    "ReadingWriter": "readings",
    "RewardsWriter": "rewards_writer",
    "confine": "roots",
    "SCHEMA_VERSION": "schema",
    "RunWriter": "writer",
}
"""Name -> the file that it comes from."""


def __getattr__(name: str) -> Any:
    """Load a name of the door."""
    if name not in _DOOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_DOOR[name]}"), name)
