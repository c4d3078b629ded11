"""How far a colour can be trusted: novelty under shuffled outcomes (null) and from other starts.

Both repeat the one credit computation on one group. Answers are standardised novelties z [N] over
all completion tokens, NaN where there is nothing to compare. What follows from them is in
`analysis.doubt`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from hara_viz.analysis.atom_matching import match_atoms
from hara_viz.backend.credit import default_layer
from hara_viz.backend.group_credit import GroupCredit, credit_of, credit_under_rewards
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.store import open_run
from hara_viz.types import GroupKey, HiddenStates, RolloutGroup

__all__ = ["Draw", "other_starts", "shuffled_outcomes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One repetition."""

    z: np.ndarray
    """[N] novelty standardised within its outcome class, (7)."""
    novelty: np.ndarray
    """[N]."""
    separation: float | None
    """How far the two barycenters are apart (cost of their optimal matching); None: there are not
    two."""
    converged: bool


def shuffled_outcomes(
    path: str,
    stamp: int,
    key: tuple[int | None, str, int],
    config: str,
    layer: int | None,
    successes: tuple[tuple[int, ...], ...],
) -> list[Draw]:
    """Novelty as it would be had other rollouts been right.

    Args:
        path: of the run.
        stamp: tells apart the states of a run that changes.
        key: of the group.
        config: a `CreditConfig` as JSON; its signal is "hara".
        layer: whose states; None: the highest layer kept.
        successes: per draw the rows that count as right; the other scored rows count as wrong.

    Raises:
        InvalidInputError: the run does not keep the group's states.
    """
    del stamp
    group, states, chosen = _inputs(path, key, config, layer)
    rewards = [_rewards(group, right, chosen.success_threshold) for right in successes]
    return [_draw(found) for found in credit_under_rewards(group, states, chosen, rewards)]


def _rewards(group: RolloutGroup, right: Sequence[int], threshold: float) -> Tensor:
    """[G]: these rows above the threshold, the other scored ones below it."""
    rewards = torch.full_like(group.rewards, threshold - 1.0)
    rewards[list(right)] = threshold + 1.0
    return torch.where(group.rewards.isnan(), torch.nan, rewards)


def other_starts(
    path: str,
    stamp: int,
    key: tuple[int | None, str, int],
    config: str,
    layer: int | None,
    seeds: tuple[int, ...],
) -> list[Draw]:
    """Novelty from other starts of the solver; arguments as in `shuffled_outcomes`."""
    del stamp
    group, states, chosen = _inputs(path, key, config, layer)
    return [_draw(credit_of(group, states, replace(chosen, seed=seed))) for seed in seeds]


def _inputs(
    path: str, key: tuple[int | None, str, int], config: str, layer: int | None
) -> tuple[RolloutGroup, HiddenStates, CreditConfig]:
    run, group_key = open_run(path), GroupKey(*key)
    layer = default_layer(run) if layer is None else layer
    states = None if layer is None else run.load_states(group_key, layer)
    if states is None:
        raise InvalidInputError(
            f"{run.name} does not keep the states of this group; fill them in with "
            "`hara-viz states`"
        )
    # Only the raw novelty is looked at; a coarser level would need reasoning steps.
    chosen = replace(CreditConfig.from_json(config), signal="hara", granularity="token")
    return run.load_group(group_key), states, chosen


def _draw(found: GroupCredit) -> Draw:
    novelty = found.credit.novelty.double().numpy().copy()
    z = np.full(len(novelty), np.nan)
    for outcome in found.credit.outcomes:
        if not outcome.plans:
            continue
        own = np.concatenate([_own_places(found, row) for row in outcome.rows])
        values = novelty[own]
        z[own] = (values - values.mean()) / (values.std() + 1e-6)
    novelty[np.isnan(z)] = np.nan
    return Draw(
        z=z.astype(np.float32),
        novelty=novelty.astype(np.float32),
        separation=_separation(found),
        converged=all(outcome.converged for outcome in found.credit.outcomes if outcome.plans),
    )


def _own_places(found: GroupCredit, row: int) -> np.ndarray:
    start, stop = int(found.offsets[row]), int(found.offsets[row + 1])
    mask = found.group.rollouts[row].sampled_mask
    return np.arange(start, stop) if mask is None else start + np.flatnonzero(mask)


def _separation(found: GroupCredit) -> float | None:
    both = [o.barycenter for o in found.credit.outcomes if o.barycenter is not None]
    if len(both) < 2:
        return None
    (first, places), (second, others) = (
        (b.features.double().cpu().numpy(), b.locations.double().cpu().numpy()) for b in both
    )
    return match_atoms(first, places, second, others, found.config.alpha).cost
