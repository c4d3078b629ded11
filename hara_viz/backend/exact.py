"""The anchored solver against exact FGW on one group, and against the ceiling: exact against exact.

A barycenter is not unique: two exact solves from different starts rank the tokens differently too.
So fidelity is judged against that agreement, never against 1.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from hara_viz.analysis.ranks import spearman
from hara_viz.backend.credit import GroupCredit, credit_group
from hara_viz.credit import CreditConfig
from hara_viz.credit.config import METHOD_VERSION
from hara_viz.errors import InvalidInputError
from hara_viz.store import open_run
from hara_viz.types import GroupKey, Progress, Report, ignore_progress

__all__ = ["MAX_TOKENS", "ExactCheck", "ExactRow", "check_exact"]

MAX_TOKENS = 4096
"""Of one rollout: exact FGW holds its distances [T, T] in float64, and its time grows like T²."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRow:
    """One outcome class."""

    success: bool
    n_rollouts: int
    n_tokens: int
    agreement: float | None
    """Spearman rank correlation of the tokens' novelty, anchored with exact; None: undefined."""
    ceiling: float | None
    """Exact with exact from another start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactCheck:
    """The comparison for one group."""

    rows: tuple[ExactRow, ...]
    """Outcome classes with at least two rollouts."""
    seconds_anchored: float
    seconds_exact: float
    converged: bool
    """Whether both exact solves came to rest."""
    method_version: int = METHOD_VERSION
    """Of the anchored solve that was checked."""

    def to_plain(self) -> dict[str, Any]:
        """As a job hands it back."""
        return asdict(self)

    @staticmethod
    def from_plain(found: Mapping[str, Any]) -> ExactCheck:
        """Inverse of `to_plain`, after a way through JSON."""
        rows = tuple(ExactRow(**row) for row in found["rows"])
        return ExactCheck(**{**found, "rows": rows})


def check_exact(
    run: str,
    key: tuple[int | None, str, int],
    credit: str,
    layer: int | None,
    report: Report = ignore_progress,
) -> ExactCheck:
    """Solve a group with the given config, exactly, and exactly from another start.

    Args:
        run: path of the run.
        key: of the group.
        credit: a `CreditConfig` as JSON; its solver and seed are varied.
        layer: whose states.
        report: hears of progress in solves.

    Raises:
        InvalidInputError: the states are not there, or a rollout is too long.
        MissingInputError: POT is not installed.
    """
    opened, group = open_run(run), GroupKey(*key)
    config = replace(CreditConfig.from_json(credit), signal="hara")
    longest = max(len(r.completion_ids) for r in opened.load_group(group).rollouts)
    if longest > MAX_TOKENS:
        raise InvalidInputError(
            f"the longest rollout of this group has {longest:,} tokens; exact FGW holds the "
            f"distances of all pairs of them and is refused above {MAX_TOKENS:,}"
        )
    done = 0

    def solve(solver: str, seed: int) -> tuple[GroupCredit, float]:
        nonlocal done
        begun = time.perf_counter()
        chosen = replace(config, solver=solver, seed=seed)  # pyright: ignore[reportArgumentType]
        found = credit_group(opened, group, chosen, layer)
        seconds = time.perf_counter() - begun
        done += 1
        report(Progress(stage="exact", done=done, total=4, unit="solves"))
        return found, seconds

    report(Progress(stage="exact", done=0, total=4, unit="solves"))
    solve("anchored", config.seed)  # reading the run is nobody's time
    fast, seconds_fast = solve("anchored", config.seed)
    other, _ = solve("exact", config.seed + 1)  # first, so that loading POT is nobody's time
    exact, seconds_exact = solve("exact", config.seed)
    rows = tuple(
        _row(fast, exact, other, place)
        for place, outcome in enumerate(fast.credit.outcomes)
        if outcome.plans
    )
    return ExactCheck(
        rows=rows,
        seconds_anchored=seconds_fast,
        seconds_exact=seconds_exact,
        converged=all(
            outcome.converged
            for found in (exact, other)
            for outcome in found.credit.outcomes
            if outcome.plans
        ),
    )


def _row(fast: GroupCredit, exact: GroupCredit, other: GroupCredit, place: int) -> ExactRow:
    outcome = fast.credit.outcomes[place]
    values = [_novelty(found, outcome.rows) for found in (fast, exact, other)]
    return ExactRow(
        success=outcome.success,
        n_rollouts=len(outcome.rows),
        n_tokens=len(values[0]),
        agreement=spearman(values[0], values[1]),
        ceiling=spearman(values[1], values[2]),
    )


def _novelty(found: GroupCredit, rows: tuple[int, ...]) -> np.ndarray:
    parts = [found.of_row(found.credit.novelty, row).double().numpy() for row in rows]
    masks = [found.group.rollouts[row].sampled_mask for row in rows]
    own = [part if m is None else part[np.asarray(m)] for part, m in zip(parts, masks, strict=True)]
    return np.concatenate(own)
