"""Barycenters of checkpoints, compared by their structure alone (`structure="state"`, α = 1).

C_r[i, k] = ‖h_i − h_k‖ needs no common basis, so models that were trained apart can be compared
without bringing their states into one space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch

from hara_viz.analysis.drift import Drift, Halves, PairDrift, drift_of, own_null, pair_drift
from hara_viz.backend.credit import default_layer
from hara_viz.credit import CreditConfig
from hara_viz.credit.states import normalised
from hara_viz.errors import InvalidInputError
from hara_viz.ot import RolloutClass, SolverConfig, solve_barycenters
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, Progress, Report, RolloutGroup, ignore_progress, is_success

__all__ = ["Drift", "DriftSettings", "Outcome", "Spot", "drift", "drift_row_at", "put_together"]

Outcome = Literal["all", "right", "wrong"]
MAX_PROBLEMS = 40
"""Of a set, at most this many are looked at, drawn evenly: the mean over them is sure enough."""
_SMALLEST_HALF = 2


class Spot(NamedTuple):
    """A checkpoint, in plain data."""

    path: str
    """Of its run."""
    stamp: int
    """When the run last changed."""
    step: int | None
    """Of the groups; None: all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftSettings:
    """What is compared."""

    outcome: Outcome = "all"
    """Whose barycenters: of all scored rollouts, or of one outcome."""
    n_support: int = 12
    """K of every barycenter; equal ones are compared quickest."""
    n_splits: int = 2
    layer: int | None = None
    """None: the highest that each run holds."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.outcome not in get_args(Outcome):
            names = ", ".join(get_args(Outcome))
            raise InvalidInputError(f"outcome is {self.outcome!r}; choose one of {names}")


class DriftRow(NamedTuple):
    """A checkpoint against all before it."""

    null: dict[str, float]
    pairs: tuple[PairDrift, ...]
    """One for each checkpoint before it."""


def drift(
    spots: Sequence[Spot],
    settings: DriftSettings | None = None,
    report: Report = ignore_progress,
) -> Drift:
    """How far the barycenters of checkpoints are apart, and how far chance would put them.

    Raises:
        InvalidInputError: a run keeps no states, or no problem has halves of two rollouts.
    """
    settings = DriftSettings() if settings is None else settings
    rows: list[DriftRow] = []
    for number in range(len(spots)):
        report(Progress(stage="drift", done=number, total=len(spots), unit="checkpoints"))
        rows.append(drift_row_at(tuple(spots[: number + 1]), settings))
    report(Progress(stage="drift", done=len(spots), total=len(spots), unit="checkpoints"))
    return put_together(rows)


def put_together(rows: Sequence[DriftRow]) -> Drift:
    """The rows of all checkpoints, in order."""
    pairs = {(a, b): pair for b, row in enumerate(rows) for a, pair in enumerate(row.pairs)}
    return drift_of([row.null for row in rows], pairs)


def drift_row_at(spots: tuple[Spot, ...], settings: DriftSettings) -> DriftRow:
    """The last of some checkpoints against all before it.

    Raises:
        InvalidInputError: see `drift`.
    """
    *before, last = spots
    own = _halves(last, settings)
    null = _null(last, settings)
    pairs = [
        pair_drift(_halves(other, settings), own, _null(other, settings), null) for other in before
    ]
    return DriftRow(null, tuple(pairs))


@lru_cache(maxsize=64)
def _null(spot: Spot, settings: DriftSettings) -> dict[str, float]:
    return own_null(_halves(spot, settings))


@lru_cache(maxsize=64)
def _halves(spot: Spot, settings: DriftSettings) -> Halves:
    """Structures of both halves of every split, by problem."""
    run = open_run(spot.path)
    layer = default_layer(run) if settings.layer is None else settings.layer
    if layer is None or layer not in run.layers:
        raise InvalidInputError(
            f"{run.name} keeps no states{'' if layer is None else f' of layer {layer}'}, and "
            f"barycenters need them; fill them in with `hara-viz states {run.name} --model …`"
        )
    classes: list[RolloutClass] = []
    places: list[tuple[str, int, int]] = []
    for key in chosen_keys(run, spot.step):
        group, rows = run.load_group(key), None
        for split in range(settings.n_splits):
            for side, members in enumerate(half_rows(group, split, settings, run)):
                rows = _states(run, group, layer) if rows is None else rows
                own = [rows[row] for row in members if len(rows[row])]
                if len(own) >= _SMALLEST_HALF:
                    classes.append(RolloutClass(own, [even_locations(len(h)) for h in own]))
                    places.append((key.problem_id, split, side))
    size = settings.n_support
    config = SolverConfig(alpha=1.0, structure="state", n_support=size, cost_scale="none")
    found: dict[str, np.ndarray] = {}
    solved = solve_barycenters(classes, config) if classes else []
    for (problem, split, side), solution in zip(places, solved, strict=True):
        blank = np.full((settings.n_splits, 2, size, size), np.nan)
        found.setdefault(problem, blank)[split, side] = solution.structure.double().numpy()
    if not found:
        raise InvalidInputError(
            f"{run.name} has no problem with two {settings.outcome} rollouts in each half; sample "
            "larger groups, or compare all outcomes"
        )
    return found


def chosen_keys(run: Run, step: int | None) -> list[GroupKey]:
    """One group per problem, at most MAX_PROBLEMS: the same problems whatever the run."""
    by_problem: dict[str, GroupKey] = {}
    for key in run.keys():  # noqa: SIM118 (a run is no dict)
        if step is None or key.global_step in (step, None):
            by_problem.setdefault(key.problem_id, key)
    # Ids are digests, so the first of them are drawn evenly.
    return [by_problem[problem] for problem in sorted(by_problem)[:MAX_PROBLEMS]]


def half_rows(
    group: RolloutGroup, split: int, settings: DriftSettings, run: Run
) -> tuple[list[int], list[int]]:
    """Rows of both halves: samples are dealt out alike in every checkpoint."""
    wanted = {"all": (True, False), "right": (True,), "wrong": (False,)}[settings.outcome]
    samples = sorted(rollout.sample for rollout in group.rollouts)
    order = np.random.default_rng([settings.seed, split]).permutation(len(samples))
    first = {samples[i] for i in order[: len(samples) // 2]}
    halves: tuple[list[int], list[int]] = ([], [])
    for row, rollout in enumerate(group.rollouts):
        if is_success(rollout.reward, run.info.success_threshold) in wanted:
            halves[rollout.sample not in first].append(row)
    return halves


def _states(run: Run, group: RolloutGroup, layer: int) -> list[torch.Tensor]:
    states = run.load_states(group.key, layer)
    if states is None:
        return [torch.zeros(0, 1) for _ in group.rollouts]
    found = [normalised(states.rows(row), CreditConfig(), None) for row in range(len(group))]
    masks = [r.sampled_mask for r in group.rollouts]
    return [
        h if mask is None or not len(h) else h[torch.tensor(mask)]
        for h, mask in zip(found, masks, strict=True)
    ]


def even_locations(n_tokens: int) -> torch.Tensor:
    """Where the tokens of a rollout stand, 0 at the first and 1 at the last: [T]."""
    return torch.arange(n_tokens) / max(n_tokens - 1, 1)
