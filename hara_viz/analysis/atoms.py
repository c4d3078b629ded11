"""Barycenter atoms as readable text: which real tokens stand for each support point.

An atom is a point that no rollout contains; what it means shows in the tokens that flow into it.
Everything here is read off the plans [T_r, K] of rollouts onto one support, the tokens' locations
and, where they are at hand, the tokens' states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hara_viz.errors import ShapeError


class Mention(NamedTuple):
    """A real token that stands for an atom."""

    row: int
    """Index into the plans that were given."""
    token: int
    """Row of that plan."""
    share: float
    """Of the token's mass, how much flows into the atom, in [0, 1]."""
    distance: float
    """Of the token's state to the atom's centre; NaN without states."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A support point in figures, and the tokens that come nearest to it."""

    index: int
    location: float
    """Mean location of the mass that flows in, (2b)."""
    mass: float
    """What arrives, averaged over the rollouts; 1/K if the marginals hold."""
    spread: float
    """Standard deviation of that mass along the locations."""
    coverage: float
    """Share of the rollouts that give it at least half of the mass due to it, 1/K."""
    mentions: tuple[Mention, ...]
    """At most one per rollout, nearest first."""


def describe_atoms(
    plans: Sequence[np.ndarray],
    locations: Sequence[np.ndarray],
    states: Sequence[np.ndarray] | None = None,
) -> tuple[Atom, ...]:
    """Every atom of a support, in reading order (by location).

    A rollout's mention of an atom is, among the tokens that give it at least half of the largest
    amount given by any of its tokens, the one whose state is nearest to the atom's centre;
    without states, the one that gives most.

    Args:
        plans: R plans [T_r, K]; rows sum to 1/T_r.
        locations: R × [T_r].
        states: R × [T_r, D], in any one space; None: amounts alone decide.

    Returns:
        K atoms by rising location; `index` is the plan's column.

    Raises:
        ShapeError: lengths that do not fit each other.
    """
    _check(plans, locations, states)
    if not plans:
        return ()
    n_atoms = plans[0].shape[1]
    arrived = np.stack([plan.sum(axis=0) for plan in plans])
    mass = arrived.mean(axis=0)
    mean = _average(plans, [place[:, None] for place in locations])[:, 0]
    square = _average(plans, [place[:, None] ** 2 for place in locations])[:, 0]
    centres = None if states is None else atom_centres(plans, states)
    atoms = [
        Atom(
            index=k,
            location=float(mean[k]),
            mass=float(mass[k]),
            spread=float(np.sqrt(max(square[k] - mean[k] ** 2, 0.0))),
            coverage=float((arrived[:, k] >= 0.5 / n_atoms).mean()),
            mentions=_mentions(k, plans, states, centres),
        )
        for k in range(n_atoms)
    ]
    return tuple(sorted(atoms, key=lambda atom: (atom.location, atom.index)))


def atom_centres(plans: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> np.ndarray:
    """y_k [K, D] of (2b): the mean of what flows into each atom, every rollout counting the same.

    Divided by the mass that really arrived, since the column marginals are only nearly 1/K.
    """
    return _average(plans, states)


class AtomMatch(NamedTuple):
    """The nearest atom of another support."""

    atom: int
    """Column of the other support's plans."""
    distance: float


def nearest_atoms(centres: np.ndarray, others: np.ndarray) -> tuple[AtomMatch, ...]:
    """For each atom [K, D] the nearest of the others [L, D] by Euclidean distance."""
    gaps = _distances(centres, others)
    best = gaps.argmin(axis=1)
    return tuple(AtomMatch(int(b), float(gaps[k, b])) for k, b in enumerate(best))


def _mentions(
    k: int,
    plans: Sequence[np.ndarray],
    states: Sequence[np.ndarray] | None,
    centres: np.ndarray | None,
) -> tuple[Mention, ...]:
    found: list[Mention] = []
    for row, plan in enumerate(plans):
        column = plan[:, k]
        if not len(column) or column.max() <= 0:
            continue
        candidates = np.flatnonzero(column >= 0.5 * column.max())
        if states is None or centres is None:
            token, distance = int(column.argmax()), float("nan")
        else:
            gaps = np.linalg.norm(states[row][candidates] - centres[k], axis=1)
            token, distance = int(candidates[gaps.argmin()]), float(gaps.min())
        share = float(column[token] / max(plan[token].sum(), 1e-30))
        found.append(Mention(row, token, share, distance))
    if states is None:
        return tuple(sorted(found, key=lambda m: (-m.share, m.row)))
    return tuple(sorted(found, key=lambda m: (m.distance, m.row)))


def _average(plans: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> np.ndarray:
    """Σ_r Σ_i π_r[i, k] v_i / Σ_r Σ_i π_r[i, k]: [K, D]."""
    total = sum(plan.sum(axis=0) for plan in plans)
    summed = sum(
        plan.astype(np.float64).T @ value.astype(np.float64)
        for plan, value in zip(plans, values, strict=True)
    )
    return np.asarray(summed) / np.maximum(np.asarray(total), 1e-30)[:, None]


def _distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([np.linalg.norm(b - row, axis=1) for row in a])


def _check(
    plans: Sequence[np.ndarray],
    locations: Sequence[np.ndarray],
    states: Sequence[np.ndarray] | None,
) -> None:
    for name, others in (("locations", locations), ("states", states)):
        if others is None:
            continue
        lengths = [len(plan) for plan in plans], [len(other) for other in others]
        if lengths[0] != lengths[1]:
            raise ShapeError(f"{name} have lengths {lengths[1]}; the plans have {lengths[0]} rows")
    if len({plan.shape[1] for plan in plans}) > 1:
        raise ShapeError("plans onto one support must have the same number of columns")
