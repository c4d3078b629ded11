"""How much the ranking of the tokens depends on a setting: α, K, ε, the layer.

Each variation changes one setting of a group's credit and is compared with the group as it is set,
by Spearman's rank correlation of the tokens' novelty within each outcome.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from hara_viz.analysis.ranks import spearman
from hara_viz.backend.credit import GroupCredit, credit_group
from hara_viz.credit import CreditConfig
from hara_viz.store import open_run
from hara_viz.types import GroupKey

__all__ = ["Agreement", "Variation", "agreement_of", "solve_seconds", "variations"]

LAYER = "layer"
_VALUES: dict[str, tuple[float | int | str, ...]] = {
    "alpha": (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0),
    "n_support": (4, 8, 16, 32, 64),
    "epsilon": (0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
}


class Variation(NamedTuple):
    """One setting changed."""

    field: str
    """Of `CreditConfig`, or "layer"."""
    value: float | int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A variation against the group as it is set."""

    variation: Variation
    right: float | None
    """Spearman rank correlation within the right rollouts; None: undefined."""
    wrong: float | None
    converged: bool
    seconds: float
    """Of the solve, reading the run included."""


def variations(
    config: CreditConfig, layers: tuple[int, ...], layer: int | None
) -> tuple[Variation, ...]:
    """What is tried: round values of each setting, its own value among them, and every layer."""
    found: list[Variation] = []
    for field, values in _VALUES.items():
        own = getattr(config, field)
        numbers = sorted({v for v in (*values, own) if not isinstance(v, str)})
        found += [Variation(field, own)] if isinstance(own, str) else []
        found += [Variation(field, value) for value in numbers]
    return (*found, *(Variation(LAYER, each) for each in layers if len(layers) > 1))


def agreement_of(
    path: str,
    stamp: int,
    key: tuple[int | None, str, int],
    config: str,
    layer: int | None,
    variation: Variation,
) -> Agreement:
    """Solve a group with one setting changed, and compare; arguments as in `backend.doubt`.

    Raises:
        HaraError: the states are not there.
    """
    base = _solved(path, stamp, key, config, layer)
    begun = time.perf_counter()
    changed, at_layer = _changed(CreditConfig.from_json(config), layer, variation)
    found = credit_group(open_run(path), GroupKey(*key), changed, at_layer)
    seconds = time.perf_counter() - begun
    return Agreement(
        variation=variation,
        right=_compared(base, found, True),
        wrong=_compared(base, found, False),
        converged=all(o.converged for o in found.credit.outcomes if o.plans),
        seconds=seconds,
    )


def solve_seconds(
    path: str, stamp: int, key: tuple[int | None, str, int], config: str, layer: int | None
) -> float:
    """Wall time of one solve of a group, the best of three; reading the run is nobody's time."""
    del stamp
    run, group = open_run(path), GroupKey(*key)
    chosen = replace(CreditConfig.from_json(config), signal="hara")
    taken: list[float] = []
    for _ in range(4):
        begun = time.perf_counter()
        credit_group(run, group, chosen, layer)
        taken.append(time.perf_counter() - begun)
    return min(taken[1:])


@lru_cache(maxsize=8)
def _solved(
    path: str, stamp: int, key: tuple[int | None, str, int], config: str, layer: int | None
) -> GroupCredit:
    del stamp
    chosen = replace(CreditConfig.from_json(config), signal="hara")
    return credit_group(open_run(path), GroupKey(*key), chosen, layer)


def _changed(
    config: CreditConfig, layer: int | None, variation: Variation
) -> tuple[CreditConfig, int | None]:
    hara = replace(config, signal="hara")
    if variation.field == LAYER:
        return hara, int(variation.value)
    changes: dict[str, Any] = {variation.field: variation.value}
    return replace(hara, **changes), layer


def _compared(base: GroupCredit, found: GroupCredit, success: bool) -> float | None:
    outcomes = [o for o in base.credit.outcomes if o.success is success and o.plans]
    if not outcomes:
        return None
    values = [_novelty(credit, outcomes[0].rows) for credit in (base, found)]
    return spearman(*values)


def _novelty(found: GroupCredit, rows: tuple[int, ...]) -> np.ndarray:
    parts: list[np.ndarray] = []
    for row in rows:
        values = found.of_row(found.credit.novelty, row).double().numpy()
        mask = found.group.rollouts[row].sampled_mask
        parts.append(values if mask is None else values[np.asarray(mask)])
    return np.concatenate(parts)
