"""A run as a 🤗 dataset: one folder that `datasets.load_dataset(FOLDER)` and pandas open.

A run's own directory opens as it is, but keeps rollouts, later verdicts and credit in places of
their own. Here they are one table: the columns of a run (`hara_viz.store.schema`), with the latest
rewards, and per-token `weights`, `advantages` and `novelty` beside the ids that they belong to.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.export.origin import CITATION, METADATA_KEY, Origin, layer_of, origin_of
from hara_viz.export.place import new_folder
from hara_viz.export.weights import WEIGHTS, weight_rows
from hara_viz.store import Run
from hara_viz.store.files import write_text
from hara_viz.store.schema import ROLLOUTS, group_to_table
from hara_viz.text import plain
from hara_viz.types import Progress, Report, ignore_progress, is_success

DATA = "data/train.parquet"
_CREDIT = ("weights", "advantages", "novelty", "baseline", "note")

COLUMNS = pa.schema(
    [*ROLLOUTS, pa.field("success", pa.bool_()), *(WEIGHTS.field(name) for name in _CREDIT)]
)
"""Columns of the data set."""

_MEANINGS = {
    "completion_ids": "the policy's own tokens: the record, of which the text is a view",
    "sampled_mask": "false where the policy did not sample (tool output); null: all sampled",
    "weights": "per token: 1 = untouched, 0 outside the mask, null = no credit (see `note`)",
    "advantages": "per token: what the optimizer gets, baseline × weight",
    "novelty": "per token: its contribution to the distance to the barycenter; null = unknown",
    "baseline": "the rollout's advantage before reweighting",
    "success": "reward ≥ the run's threshold; null = unscored",
    "cell_start": "first code point of each token's display cell in `completion_text`",
    "reward_parts": "JSON: the reward functions' own values",
    "prompt_messages": "JSON: the chat turns",
}


def export_dataset(
    run: Run,
    out: Path,
    config: CreditConfig,
    *,
    layer: int | None = None,
    force: bool = False,
    report: Report = ignore_progress,
) -> int:
    """Write the folder.

    Args:
        run: an open run.
        out: the folder; its parent must exist.
        config: of the credit.
        layer: whose states; None: the highest kept.
        force: replace a folder that an export wrote.
        report: hears of progress in groups.

    Returns:
        The number of rollouts without weights; they are rows all the same.

    Raises:
        InvalidInputError: the place, or a run without groups.
    """
    if not run.keys():
        raise InvalidInputError(f"{run.name} holds no finished group yet; there is nothing to pack")
    layer = layer_of(run, config, layer)
    origin = origin_of(run, config, layer)
    schema = COLUMNS.with_metadata({METADATA_KEY: origin.as_json})
    n_rows = n_missing = 0
    with new_folder(out, force=force) as folder:
        path = folder / DATA
        path.parent.mkdir()
        with pq.ParquetWriter(path, schema) as writer:
            for table in _tables(run, config, layer, report):
                writer.write_table(table.cast(schema))
                n_rows += table.num_rows
                n_missing += table["weights"].null_count
        size = path.stat().st_size
        write_text(folder / "README.md", dataset_card(run, origin, n_rows, size))
    return n_missing


def dataset_card(run: Run, origin: Origin, n_rows: int, size: int) -> str:
    """The card: features for programs, their meaning for people, origin and citation."""
    name = plain(run.name).replace("`", "'")
    features = "\n".join(_feature(field) for field in COLUMNS)
    columns = "\n".join(f"- `{column}`: {meaning}" for column, meaning in _MEANINGS.items())
    return f"""---
tags:
- hara-viz
- rlvr
- rollouts
configs:
- config_name: default
  data_files:
  - split: train
    path: {DATA}
dataset_info:
  features:
{features}
  splits:
  - name: train
    num_bytes: {size}
    num_examples: {n_rows}
  download_size: {size}
  dataset_size: {size}
---

# Rollouts and token credit of a run

Run `{name}`: one row per rollout, {n_rows} rows, rollouts of a group next to each other.

```python
from datasets import load_dataset

rollouts = load_dataset("FOLDER", split="train")
```

{columns}

Null means unknown, 0 means zero. Spans and offsets are code points of `completion_text`.

## Origin

`{origin.line.replace("`", "'")}`

The credit was computed with this config (layer {origin.layer}):

```json
{origin.config}
```

## Citation

```bibtex
{CITATION}
```
"""


def _tables(
    run: Run, config: CreditConfig, layer: int | None, report: Report
) -> Iterator[pa.Table]:
    keys = run.keys()
    for done, key in enumerate(keys):
        report(Progress(stage="dataset", done=done, total=len(keys), unit="groups"))
        group = run.load_group(key)
        table = group_to_table(group)
        threshold = config.success_threshold
        successes = [is_success(rollout.reward, threshold) for rollout in group.rollouts]
        table = table.append_column("success", pa.array(successes, pa.bool_()))
        rows = weight_rows(run, key, config, layer)
        for name in _CREDIT:
            values: list[Any] = [row[name] for row in rows]
            table = table.append_column(name, pa.array(values, WEIGHTS.field(name).type))
        yield table
    report(Progress(stage="dataset", done=len(keys), total=len(keys), unit="groups"))


def _feature(field: pa.Field) -> str:
    """A column in the YAML that 🤗 datasets reads."""
    if pa.types.is_list(field.type):
        return f"  - name: {field.name}\n    sequence: {_dtype(field.type.value_type)}"
    return f"  - name: {field.name}\n    dtype: {_dtype(field.type)}"


def _dtype(kind: pa.DataType) -> str:
    return {"double": "float64", "float": "float32"}.get(str(kind), str(kind))
