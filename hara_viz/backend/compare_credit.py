"""What a comparison needs of the credit of a whole run: mean novelty, and what is novel again and
again. Everything is computed in memory; `hara-viz credit RUN` keeps credit in the run, and what is
kept is read instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from hara_viz.analysis.patterns import PatternCount, standardised
from hara_viz.analysis.signals import channel_values
from hara_viz.backend.credit import GroupCredit, default_config, kept_or_computed
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError, InvalidInputError
from hara_viz.store import Run, open_run
from hara_viz.types import Progress, Report, ignore_progress, is_success


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditReading:
    """The credit of a run, summed up."""

    groups: pd.DataFrame
    """global_step, problem_id, group, novelty (mean over its scored rollouts' tokens)."""
    patterns: pd.DataFrame
    """As `analysis.patterns.PatternCount.table` gives it."""
    n_without: int
    """Groups whose credit could not be computed (states missing)."""


def read_credit(
    run: Run,
    config: CreditConfig | None = None,
    layer: int | None = None,
    report: Report = ignore_progress,
) -> CreditReading:
    """Novelty of all groups of a run under one config.

    Args:
        run: an open run.
        config: None: the defaults, with the run's own threshold of success.
        layer: whose states; None: the highest kept.
        report: hears of progress in groups.

    Raises:
        InvalidInputError: no group of the run has what the config needs.
    """
    config = default_config(run) if config is None else config
    special = run.info.checkpoint.special_ids if run.info.checkpoint else ()
    patterns, rows = PatternCount(special), []
    refused: str | None = None
    keys = run.keys()
    for number, key in enumerate(keys):
        report(Progress(stage="credit", done=number, total=len(keys), unit="groups"))
        try:
            found = kept_or_computed(run, key, config, layer)
        except HaraError as error:
            refused = str(error)
            continue
        rows.append({**key._asdict(), "novelty": _count(found, patterns)})
    if keys and not rows:
        raise InvalidInputError(refused or f"{run.name} has no credit")
    return CreditReading(
        groups=pd.DataFrame(rows, columns=["global_step", "problem_id", "group", "novelty"]),
        patterns=patterns.table(),
        n_without=len(keys) - len(rows),
    )


def read_credit_at(path: str, stamp: int, config: str, layer: int | None) -> CreditReading:
    """`read_credit` by the run's path, for the side process; `stamp` names the state on disk."""
    del stamp
    return read_credit(open_run(path), CreditConfig.from_json(config), layer)


def _count(found: GroupCredit, patterns: PatternCount) -> float:
    """Count the patterns of a group; returns its mean novelty, NaN if none is known."""
    group, threshold = found.group, found.config.success_threshold
    parts = [channel_values(name, group, found.credit) for name in ("feature", "structure")]
    novelty = np.sum([part for part in parts if part is not None], axis=0)
    offsets: list[int] = found.offsets.tolist()
    for success in (True, False):
        rows = [
            r for r, o in enumerate(group.rollouts) if is_success(o.reward, threshold) is success
        ]
        if len(rows) < 2:  # a lone rollout has no pattern to differ from
            continue
        pieces = [novelty[offsets[r] : offsets[r + 1]] for r in rows]
        z = standardised(np.concatenate(pieces))
        ends = np.cumsum([0, *map(len, pieces)])
        for place, row in enumerate(rows):
            own = z[ends[place] : ends[place + 1]]
            patterns.add(group.key, group.rollouts[row], success, own)
    known = novelty[np.isfinite(novelty)]
    return float(known.mean()) if len(known) else float("nan")
