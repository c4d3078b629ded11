"""The tables of a run as they leave it: groups, rollouts, tokens. Pandas, one row per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from hara_viz.analysis.figures import group_table
from hara_viz.analysis.signals import SIGNALS, signal_values
from hara_viz.backend.credit import GroupCredit, credit_group, kept_or_computed
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.export.origin import layer_of, origin_of
from hara_viz.export.place import check_place, new_file
from hara_viz.export.sheets import csv_bytes, parquet_bytes
from hara_viz.store import Run
from hara_viz.text import cells_of
from hara_viz.types import GroupKey, Progress, Report, Rollout, ignore_progress, is_success

SUFFIXES = (".csv", ".parquet")
TABLES = ("groups", "rollouts", "tokens")

# How the store finds a group; nobody else's business.
_PLACES = ["part", "row_group", "first_row", "credit"]
_OUTCOME = {True: "right", False: "wrong", None: "unscored"}


def export_table(
    run: Run,
    name: str,
    out: Path,
    config: CreditConfig,
    *,
    layer: int | None = None,
    keys: Sequence[GroupKey] | None = None,
    force: bool = False,
    report: Report = ignore_progress,
) -> int:
    """Write a table of a run.

    Args:
        run: an open run.
        name: one of TABLES.
        out: a .csv or .parquet file, as its name says.
        config: of the credit whose numbers rollouts and tokens carry.
        layer: whose states; None: the highest kept.
        keys: only these groups; None: all.
        force: replace a file that is there.
        report: hears of progress in groups.

    Returns:
        The number of rows.

    Raises:
        InvalidInputError: the name of the file, the place, or a run without groups.
    """
    check_place(out, force=force, suffixes=SUFFIXES)
    keys = run.keys() if keys is None else keys
    if not keys:
        raise InvalidInputError(
            f"{run.name} holds no finished group yet, so there is no table to write; sample or "
            "import rollouts first"
        )
    layer = layer_of(run, config, layer)
    if name == "groups":
        table, origin = groups_table(run, keys), origin_of(run)
    else:
        make = rollouts_table if name == "rollouts" else tokens_table
        table = pd.concat([make(found) for found in _credits(run, keys, config, layer, report)])
        origin = origin_of(run, config, layer)
    made = csv_bytes(table, origin) if out.suffix == ".csv" else parquet_bytes(table, origin)
    with new_file(out, force=force) as path:
        path.write_bytes(made)
    return len(table)


def groups_table(run: Run, keys: Sequence[GroupKey]) -> pd.DataFrame:
    """One row per group: counts, pass rate, lengths, mean novelty where credit is kept."""
    table = group_table(run.summaries()).drop(columns=_PLACES)
    steps = [None if pd.isna(step) else int(step) for step in table["global_step"]]
    rows = zip(steps, table["problem_id"], table["group"], strict=True)
    wanted = set(keys)
    return cast("pd.DataFrame", table[[GroupKey(*row) in wanted for row in rows]])


def rollouts_table(found: GroupCredit) -> pd.DataFrame:
    """One row per rollout: verdict, text, and its credit in short."""
    return pd.DataFrame([_rollout_row(found, row) for row in range(len(found.group))])


def tokens_table(found: GroupCredit) -> pd.DataFrame:
    """One row per token: its text and every signal that the group has."""
    group = found.group
    heads = [head for rollout in group.rollouts for head in _token_rows(rollout)]
    table = pd.DataFrame(heads)
    for name in SIGNALS:
        values = signal_values(name, group, found.credit)
        if values is not None:
            table[name] = np.asarray(values, np.float64)
    return table


def _credits(
    run: Run,
    keys: Sequence[GroupKey],
    config: CreditConfig,
    layer: int | None,
    report: Report,
) -> Iterator[GroupCredit]:
    for done, key in enumerate(keys):
        report(Progress(stage="tables", done=done, total=len(keys), unit="groups"))
        try:
            yield kept_or_computed(run, key, config, layer)
        except InvalidInputError:
            # The rest of a row is known all the same: rewards, text, entropy.
            plain = CreditConfig(signal="uniform", success_threshold=config.success_threshold)
            yield credit_group(run, key, plain)
    report(Progress(stage="tables", done=len(keys), total=len(keys), unit="groups"))


def _key_row(rollout: Rollout) -> dict[str, Any]:
    return {
        "global_step": rollout.global_step,
        "problem_id": rollout.problem_id,
        "source_id": rollout.source_id,
        "group": rollout.group,
        "sample": rollout.sample,
    }


def _rollout_row(found: GroupCredit, row: int) -> dict[str, Any]:
    rollout, credit = found.group.rollouts[row], found.credit
    weights = found.own_of_row(credit.weights, row).double()
    return {
        **_key_row(rollout),
        "outcome": _OUTCOME[is_success(rollout.reward, found.config.success_threshold)],
        "reward": rollout.reward,
        "gold": rollout.gold,
        "extracted_answer": rollout.extracted_answer,
        "reward_reason": rollout.reward_reason,
        "n_tokens": len(rollout.completion_ids),
        "finish": str(rollout.finish),
        "advantage": float(credit.baseline[row]),
        "mean_novelty": found.mean_novelty(row) if found.config.signal == "hara" else None,
        "min_weight": float(weights.min()) if len(weights) else None,
        "max_weight": float(weights.max()) if len(weights) else None,
        "completion_text": rollout.completion_text,
    }


def _token_rows(rollout: Rollout) -> Iterator[dict[str, Any]]:
    key, texts = _key_row(rollout), _token_texts(rollout)
    for t, token_id in enumerate(rollout.completion_ids):
        yield {
            **key,
            "token": t,
            "token_id": token_id,
            "text": texts[t],
            "sampled": rollout.sampled_mask is None or rollout.sampled_mask[t],
            "reasoning_step": None if rollout.reasoning_step is None else rollout.reasoning_step[t],
        }


def _token_texts(rollout: Rollout) -> list[str | None]:
    """Per token the text of its cell: tokens that share a character all show it."""
    text, ids = rollout.completion_text, rollout.completion_ids
    if rollout.cell_start is None:
        return [None] * len(ids)
    cells = cells_of(text, rollout.cell_start, ids, ())
    return [
        text[cell.start : cell.end]
        for cell in cells
        for _ in range(cell.first_token, cell.last_token)
    ]
