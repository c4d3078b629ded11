"""The common space of two checkpoints: states that both have of the same text, and a linear fit.

Two sources of pairs need no model: tokens whose prompt and completion so far are the same in a
rollout of both runs (checkpoints of one series, sampled with one seed, begin alike), and, where one
checkpoint has read the other's rollouts (`hara-viz states`), all of their tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from torch import Tensor

from hara_viz.analysis.projection import fair_choice
from hara_viz.analysis.state_fit import MIN_PAIRS, LinearFit, fit_linear
from hara_viz.backend.compare_drift import Spot, chosen_keys
from hara_viz.store import Run, open_run
from hara_viz.types import GroupKey, RunInfo

__all__ = ["CommonSpace", "common_space", "related"]

MAX_PAIRS = 3000
WORST_RESIDUAL = 0.5
"""Beyond it a mapped state says less than half of what it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonSpace:
    """How states of B come into A's space, or why they cannot."""

    fit: LinearFit | None
    """None: structure only."""
    layer: int | None
    """Whose states are compared, the highest that both runs keep; None: they share none."""
    sentence: str
    """What was found, for the reader."""


def related(a: RunInfo, b: RunInfo) -> bool:
    """Whether two runs' checkpoints come of one training, or of trainings with one start."""
    if a.checkpoint and b.checkpoint and a.checkpoint.fingerprint == b.checkpoint.fingerprint:
        return True
    if a.series is None or b.series is None:
        return False
    base = a.series.base_fingerprint
    return a.series.id == b.series.id or (bool(base) and base == b.series.base_fingerprint)


@lru_cache(maxsize=16)
def common_space(a: Spot, b: Spot) -> CommonSpace:
    """The map from B's states to A's."""
    run_a, run_b = open_run(a.path), open_run(b.path)
    layer = max(set(run_a.layers) & set(run_b.layers), default=None)
    if layer is None:
        held = [", ".join(map(str, run.layers)) or "none" for run in (run_a, run_b)]
        return _structure_only(
            layer,
            f"The runs keep states of no common layer (A: {held[0]}; B: {held[1]}); fill them in "
            "with `hara-viz states`",
        )
    if not related(run_a.info, run_b.info):
        return _structure_only(
            layer, "The two checkpoints are not of one series, so their states share no space"
        )
    fit = _fit(run_a, a.step, run_b, b.step, layer)
    if fit is None:
        return _structure_only(
            layer,
            f"The runs share fewer than {MIN_PAIRS} tokens in equal context, too few for a fit "
            f"between their spaces (`hara-viz states {run_a.name} --model CHECKPOINT_B` gives "
            "such pairs)",
        )
    words = (
        f"A linear fit from B's states to A's leaves a residual of {100 * fit.residual:.1f} % of "
        f"the variance on held-out problems ({fit.n_pairs:,} tokens of {fit.n_groups} problems "
        f"that both saw in the same context; {_unmapped(fit)})"
    )
    if fit.residual > WORST_RESIDUAL:
        return _structure_only(layer, f"{words}, which is too much")
    return CommonSpace(fit=fit, layer=layer, sentence=f"{words}.")


def _structure_only(layer: int | None, why: str) -> CommonSpace:
    return CommonSpace(
        fit=None, layer=layer, sentence=f"{why}: tokens are compared by structure alone."
    )


def _unmapped(fit: LinearFit) -> str:
    if np.isnan(fit.residual_unmapped):
        return "the spaces differ in size"
    return f"without the fit {100 * fit.residual_unmapped:.1f} %"


def _fit(
    run_a: Run, step_a: int | None, run_b: Run, step_b: int | None, layer: int
) -> LinearFit | None:
    keys_b = {key.problem_id: key for key in chosen_keys(run_b, step_b)}
    x: list[np.ndarray] = []
    y: list[np.ndarray] = []
    groups: list[np.ndarray] = []
    for number, key in enumerate(chosen_keys(run_a, step_a)):
        if key.problem_id in keys_b:
            for of_b, of_a in _pairs(run_a, key, run_b, keys_b[key.problem_id], layer):
                x.append(of_b)
                y.append(of_a)
                groups.append(np.full(len(of_a), number))
    if not x:
        return None
    of_b, of_a, names = np.concatenate(x), np.concatenate(y), np.concatenate(groups)
    chosen = fair_choice(names, MAX_PAIRS)
    return fit_linear(of_b[chosen], of_a[chosen], names[chosen])


def _pairs(
    run_a: Run, key_a: GroupKey, run_b: Run, key_b: GroupKey, layer: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(states of B, states of A) of the same tokens."""
    own_a, own_b = run_a.load_states(key_a, layer), run_b.load_states(key_b, layer)
    if own_a is None or own_b is None:
        return []
    found: list[tuple[np.ndarray, np.ndarray]] = []
    checkpoint = run_b.info.checkpoint
    read = run_a.load_states(key_a, layer, source=checkpoint.fingerprint) if checkpoint else None
    if read is not None and read is not own_a and len(read.states) == len(own_a.states):
        found.append((_array(read.states), _array(own_a.states)))
    group_a, group_b = run_a.load_group(key_a), run_b.load_group(key_b)
    prompts = [(g.rollouts[0].prompt_ids, g.rollouts[0].prompt_text) for g in (group_a, group_b)]
    if prompts[0] != prompts[1]:
        return found
    places = _prefixes([r.completion_ids for r in group_a.rollouts])
    seen: set[tuple[int, int]] = set()
    rows: list[tuple[int, int]] = []  # packed rows of B and A
    for number, rollout in enumerate(group_b.rollouts):
        node = (-1, -1)
        for t, token in enumerate(rollout.completion_ids):
            step = places.get((node[0], node[1], token))
            if step is None or not len(own_b.rows(number)):
                break
            node = step
            if node not in seen and len(own_a.rows(node[0])):
                seen.add(node)
                rows.append((int(own_b.offsets[number]) + t, int(own_a.offsets[node[0]]) + node[1]))
    if rows:
        of_b, of_a = map(list, zip(*rows, strict=True))
        found.append((_array(own_b.states[of_b]), _array(own_a.states[of_a])))
    return found


def _prefixes(rollouts: list[tuple[int, ...]]) -> dict[tuple[int, int, int], tuple[int, int]]:
    """A tree of beginnings: (rollout, token) of the beginning so far and the next id -> its own
    (rollout, token), in the first rollout that goes on like that.
    """
    tree: dict[tuple[int, int, int], tuple[int, int]] = {}
    for number, ids in enumerate(rollouts):
        node = (-1, -1)
        for t, token in enumerate(ids):
            node = tree.setdefault((node[0], node[1], token), (number, t))
    return tree


def _array(states: Tensor) -> np.ndarray:
    return states.float().numpy()
