"""Rollouts as a padded batch of measured networks (h, ℓ, p), method §2.

Padding rows carry no mass, so they add exact zeros to every sum over tokens. Rollouts are put into
an order of their own (by length, then content), so that sums round alike however the caller
ordered them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.errors import InvalidInputError, ShapeError


@dataclass(frozen=True, slots=True)
class Measures:
    """R rollouts, padded to the longest; atoms of one rollout in the order of their locations."""

    features: Tensor
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
    scale: float
    """Mean squared norm of the states before centring: what rounding errors are relative to."""

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
    _check(features, locations)
    rows = _canonical_rows(features)
    features, locations = [features[r] for r in rows], [locations[r] for r in rows]
    dtype = torch.float64 if features[0].dtype == torch.float64 else torch.float32
    device, dim = features[0].device, features[0].shape[1]
    lengths = tuple(int(h.shape[0]) for h in features)
    longest = max(lengths)
    states = torch.zeros(len(lengths), longest, dim, dtype=dtype, device=device)
    places = torch.zeros(len(lengths), longest, dtype=dtype, device=device)
    mass = torch.zeros(len(lengths), longest, dtype=dtype, device=device)
    orders: list[Tensor | None] = []
    for r, (h, line) in enumerate(zip(features, locations, strict=True)):
        order = _sorting_order(line)
        orders.append(order)
        states[r, : lengths[r]] = h if order is None else h[order]
        places[r, : lengths[r]] = line if order is None else line[order]
        places[r, lengths[r] :] = places[r, lengths[r] - 1]
        mass[r, : lengths[r]] = 1.0 / lengths[r]
    scale = float((mass * states.square().sum(-1)).sum() / len(lengths))
    center = torch.einsum("rt,rtd->d", mass, states) / len(lengths)
    states -= center
    states *= (mass > 0)[..., None]
    return Measures(states, center, places, mass, lengths, rows, tuple(orders), scale)


def _canonical_rows(features: Sequence[Tensor]) -> tuple[int, ...]:
    def content(r: int) -> tuple[int, float]:
        return len(features[r]), float(features[r].sum(dtype=torch.float64))

    return tuple(sorted(range(len(features)), key=content))


def _sorting_order(locations: Tensor) -> Tensor | None:
    if bool((locations[1:] >= locations[:-1]).all()):
        return None
    return torch.argsort(locations, stable=True)


def _check(features: Sequence[Tensor], locations: Sequence[Tensor]) -> None:
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
        if not (bool(torch.isfinite(h).all()) and bool(torch.isfinite(line).all())):
            raise InvalidInputError(
                f"rollout {r} has features or locations that are not finite; "
                "mend or leave out the rollout"
            )
