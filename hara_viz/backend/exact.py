"""The anchored solver against exact FGW on one group, and against the ceiling: exact against exact.

A barycenter is not unique: two exact solves from different starts rank the tokens differently too.
So fidelity is judged against that agreement, never against 1.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from hara_viz.analysis.ranks import spearman
from hara_viz.backend.credit import GroupCredit, credit_group
from hara_viz.credit import CreditConfig
from hara_viz.store import open_run
from hara_viz.types import GroupKey

__all__ = ["MAX_LIVE_TOKENS", "MAX_LIVE_TOKENS_SQUARED", "ExactCheck", "ExactRow", "check_exact"]

MAX_LIVE_TOKENS = 2048
"""Of a group; above, exact FGW takes minutes and is left to the command line."""
MAX_LIVE_TOKENS_SQUARED = 8 * 192**2
"""Σ T²: what a round of exact FGW costs."""


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


def check_exact(
    run: str, key: tuple[int | None, str, int], credit: str, layer: int | None
) -> ExactCheck:
    """Solve a group with the given config, exactly, and exactly from another start.

    Args:
        run: path of the run.
        key: of the group.
        credit: a `CreditConfig` as JSON; its solver and seed are varied.
        layer: whose states.

    Raises:
        InvalidInputError: the states are not there.
        MissingInputError: POT is not installed.
    """
    opened, group = open_run(run), GroupKey(*key)
    config = replace(CreditConfig.from_json(credit), signal="hara")

    def solve(solver: str, seed: int) -> tuple[GroupCredit, float]:
        begun = time.perf_counter()
        chosen = replace(config, solver=solver, seed=seed)  # pyright: ignore[reportArgumentType]
        return credit_group(opened, group, chosen, layer), time.perf_counter() - begun

    solve("anchored", config.seed)  # reading the run is nobody's time
    fast, seconds_fast = solve("anchored", config.seed)
    other, _ = solve("exact", config.seed + 1)  # first, so that loading POT is nobody's time
    exact, seconds_exact = solve("exact", config.seed)
    rows = tuple(
        _row(fast, exact, other, place)
        for place, outcome in enumerate(fast.credit.outcomes)
        if outcome.plans
    )
    return ExactCheck(rows=rows, seconds_anchored=seconds_fast, seconds_exact=seconds_exact)


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
