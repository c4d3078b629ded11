"""IMPORTERS: other frameworks' rollout dumps to `Rollout` records, as a stream.

| file | question |
|---|---|
| `sources.py` | which files does a source hold, and which may be opened? |
| `records.py` | which records does a JSONL, JSON or Parquet file hold? one at a time |
| `formats/` | which layout is it, and what does a record tell? one file a layout |
| `foreign.py` | the records: `ForeignRollout`, `Format`, why a record is left out |
| `values.py` | how is one foreign value read as number, text, ids or chat turns? |
| `detect.py` | which layout do these files have? |
| `grouping.py` | which rollouts form a group? (rows wait in `spool.py`, not in memory) |
| `report.py` | what was found, what is missing, what was left out and why |
| `tokenizer.py` | what is asked of a tokenizer; whoever calls hands one in |
| `prompts.py`, `problem_index.py` | which problem does a prompt pose, and as which ids? |
| `completions.py` | text or ids of a completion to tokens, cells and steps |
| `build.py` | a group of foreign rollouts to a `RolloutGroup` |

Nothing here knows a model, the store or a screen. Pickles are never opened.
"""

from hara_viz.importers.build import GroupBuilder
from hara_viz.importers.formats import FORMATS, format_named
from hara_viz.importers.grouping import Collection, collect
from hara_viz.importers.report import ImportReport
from hara_viz.importers.sources import Source, open_source
from hara_viz.importers.tokenizer import Tokenizer

__all__ = [
    "FORMATS",
    "Collection",
    "GroupBuilder",
    "ImportReport",
    "Source",
    "Tokenizer",
    "collect",
    "format_named",
    "open_source",
]
