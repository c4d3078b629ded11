"""Rollouts as a padded batch of measured networks (h, ℓ, p), method §2.

Padding rows carry no mass, so they add exact zeros to every sum over tokens. Rollouts are put into
an order of their own (by length, then content), so that sums round alike however the caller
ordered them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.errors import InvalidInputError, ShapeError
from hara_viz.ot.states import States, build_states


@dataclass(frozen=True, slots=True)
class Measures:
    """R rollouts, padded alike; atoms of one rollout in the order of their locations."""

    states: States
    """[R, T, D], centred: `center` has been subtracted (FGW does not change under a shift)."""
    center: Tensor
    """[D]: the mean state, each rollout counting the same."""
    locations: Tensor
    """[R, T], non-decreasing along T; the padding repeats the last location."""
    mass: Tensor
    """[R, T]: 1/T_r on the rollout's own atoms, 0 on padding."""
    lengths: tuple[int, ...]
    rows: tuple[int, ...]
    """The caller's number of each rollout."""
    orders: tuple[Tensor | None, ...]
    """Per rollout the permutation [T_r] that sorted its atoms; None where it was in order."""

    @property
    def features(self) -> Tensor:
        """The centred states as one block [R, T, D]; large ones are copied."""
        return self.states.padded()

    @property
    def n_rollouts(self) -> int:
        """R."""
        return len(self.lengths)

    def unpad(self, padded: Tensor) -> list[Tensor]:
        """[R, T, …] → one [T_r, …] per rollout, in the caller's order of rollouts and atoms."""
        own: dict[int, Tensor] = {}
        for r, (length, order) in enumerate(zip(self.lengths, self.orders, strict=True)):
            atoms = padded[r, :length]
            if order is not None:
                atoms = torch.empty_like(atoms).index_copy_(0, order, atoms)
            own[self.rows[r]] = atoms
        return [own[row] for row in range(self.n_rollouts)]


def build_measures(features: Sequence[Tensor], locations: Sequence[Tensor]) -> Measures:
    """Pad and centre R rollouts.

    Args:
        features: R tensors [T_r, D] of any float dtype; float64 stays, others become float32.
        locations: R tensors [T_r].

    Raises:
        InvalidInputError: no rollout, an empty one, or a value that is not finite.
        ShapeError: shapes that do not fit each other.
    """
    check_rollouts(features, locations)
    dtype = torch.float64 if features[0].dtype == torch.float64 else torch.float32
    orders = [_sorting_order(line, r) for r, line in enumerate(locations)]
    features = [_in_order(h, order) for h, order in zip(features, orders, strict=True)]
    locations = [_in_order(line, order) for line, order in zip(locations, orders, strict=True)]
    totals = [h.sum(0, dtype=dtype) for h in features]
    rows = _canonical_rows(features, totals)
    lengths = tuple(len(features[r]) for r in rows)
    center = torch.stack([totals[r] / len(features[r]) for r in rows]).mean(0)
    longest = padded_length(max(lengths))
    places, mass = (center.new_zeros(len(lengths), longest) for _ in range(2))
    for place, r in enumerate(rows):
        places[place, : lengths[place]] = locations[r]
        places[place, lengths[place] :] = locations[r][-1]
        mass[place, : lengths[place]] = 1.0 / lengths[place]
    states = build_states([features[r] for r in rows], center, longest)
    return Measures(states, center, places, mass, lengths, rows, tuple(orders[r] for r in rows))


def padded_length(longest: int) -> int:
    """A length ≥ `longest` that groups of about the same length share (at most an eighth more).

    It depends on the rollouts alone, so that a group is solved in the same shape, with the same
    rounding, alone or beside others.
    """
    step = max(1 << max(longest.bit_length() - 4, 0), 8)
    return -(-longest // step) * step


def _canonical_rows(features: Sequence[Tensor], totals: Sequence[Tensor]) -> tuple[int, ...]:
    sums = torch.stack(list(totals)).sum(-1, dtype=torch.float64).tolist()
    if not all(map(math.isfinite, sums)):
        _check_finite(features)
    return tuple(sorted(range(len(features)), key=lambda r: (len(features[r]), sums[r])))


def _check_finite(features: Sequence[Tensor]) -> None:
    for r, h in enumerate(features):
        if not bool(torch.isfinite(h).all()):
            raise InvalidInputError(
                f"rollout {r} has features that are not finite; mend or leave out the rollout"
            )


def _sorting_order(locations: Tensor, row: int) -> Tensor | None:
    steps = locations[1:] - locations[:-1]
    if bool((steps >= 0).all() & torch.isfinite(locations[-1])):  # NaN fails the first
        return None
    if not bool(torch.isfinite(locations).all()):
        raise InvalidInputError(
            f"rollout {row} has locations that are not finite; mend or leave out the rollout"
        )
    return torch.argsort(locations, stable=True)


def _in_order(values: Tensor, order: Tensor | None) -> Tensor:
    return values if order is None else values[order]


def check_rollouts(features: Sequence[Tensor], locations: Sequence[Tensor]) -> None:
    """Raise InvalidInputError or ShapeError if these are no rollouts (values are not looked at)."""
    if not features:
        raise InvalidInputError("a barycenter needs at least one rollout, got none")
    if len(features) != len(locations):
        raise ShapeError(f"got {len(features)} features but {len(locations)} locations")
    dim = features[0].shape[-1]
    for r, (h, line) in enumerate(zip(features, locations, strict=True)):
        if h.dim() != 2 or h.shape[1] != dim:
            raise ShapeError(f"features of rollout {r}: got {tuple(h.shape)}, expected [T, {dim}]")
        if h.shape[0] == 0:
            raise InvalidInputError(f"rollout {r} has no atoms; leave it out")
        if line.shape != h.shape[:1]:
            raise ShapeError(
                f"locations of rollout {r}: got {tuple(line.shape)}, expected [{h.shape[0]}]"
            )
