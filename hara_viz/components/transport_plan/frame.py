"""The frame of the transport plan: one rollout, the support it is mapped on, and what that costs.

An envelope (`shared/envelope.py`) with magic "HARAPLAN". Header:

    sample, success, tokens (T)
    cells   the rollout's display cells, [text, n_tokens, special]
    atoms   K of [name, location, mass, spread, text], in reading order: `name` is the column of the
            plan, `text` the words that stand for the atom
    steps   the first token of each sentence of the rollout, rising; empty: it was not cut

Blocks: shares [T, K] u16, share / 65535 of the token's mass that flows into the atom; own [T] u8,
0 where the policy did not sample the token (no mass, no cost); feature [T] f32 and structure [T]
f32, the two parts of the token's cost (6), NaN where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hara_viz.components.shared.cells import ShownCell, cells_from_json, cells_to_json
from hara_viz.components.shared.envelope import pack, pad4, unpack
from hara_viz.errors import FormatError, ShapeError

MAGIC, VERSION = b"HARAPLAN", 2
_FULL = 65535


class AtomLabel(NamedTuple):
    """A column of the plan, as it is labelled."""

    name: int
    location: float
    mass: float
    spread: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFrame:
    """A rollout [T] against a support [K]."""

    sample: int
    success: bool | None
    cells: tuple[ShownCell, ...]
    """Of the whole completion."""
    atoms: tuple[AtomLabel, ...]
    """K labels, in the order of the columns of `shares`."""
    shares: np.ndarray
    """[T, K] in [0, 1]; rows of own tokens sum to 1, those of others are 0."""
    own: np.ndarray
    """[T] bool: the policy sampled it."""
    feature: np.ndarray
    """[T] feature part of the cost, NaN where `own` is False."""
    structure: np.ndarray
    """[T] structure part."""
    steps: tuple[int, ...] = ()
    """First token of each sentence, rising."""


def plan_frame(
    *,
    sample: int,
    success: bool | None,
    cells: tuple[ShownCell, ...],
    atoms: tuple[AtomLabel, ...],
    plan: np.ndarray,
    own: np.ndarray,
    feature: np.ndarray,
    structure: np.ndarray,
    steps: Sequence[int] = (),
) -> PlanFrame:
    """A frame from a plan as the solver gives it.

    Args:
        sample: the rollout's number in its group.
        success: its outcome.
        cells: display cells of all T tokens.
        atoms: labels in the order wanted; `name` says which column of `plan` each one is.
        plan: [T_own, K], rows sum to 1 / T_own.
        own: [T] bool with T_own times True.
        feature: [T] cost, only looked at where `own`.
        structure: [T].
        steps: first token of each sentence.

    Raises:
        ShapeError: the parts do not fit each other.
    """
    if int(own.sum()) != len(plan) or plan.shape[1] != len(atoms):
        raise ShapeError(
            f"a plan of {plan.shape} does not fit {int(own.sum())} own tokens and {len(atoms)} "
            "atoms"
        )
    shares = np.zeros((len(own), len(atoms)), np.float64)
    totals = np.maximum(plan.sum(axis=1, keepdims=True), 1e-30)
    shares[own] = (plan / totals)[:, [atom.name for atom in atoms]]
    frame = PlanFrame(
        sample=sample,
        success=success,
        cells=cells,
        atoms=atoms,
        shares=shares,
        own=own,
        feature=np.where(own, feature, np.nan),
        structure=np.where(own, structure, np.nan),
        steps=tuple(steps),
    )
    _check(frame)
    return frame


def encode(frame: PlanFrame) -> bytes:
    """The frame as bytes; equal frames give equal bytes.

    Raises:
        ShapeError: the parts of the frame do not fit each other.
        InvalidInputError: a number of an atom is NaN or infinite.
    """
    _check(frame)
    header = {
        "sample": frame.sample,
        "success": frame.success,
        "tokens": len(frame.own),
        "cells": cells_to_json(frame.cells),
        "atoms": [list(atom) for atom in frame.atoms],
        "steps": list(frame.steps),
    }
    blocks = [
        np.rint(np.clip(frame.shares, 0, 1) * _FULL).astype("<u2").tobytes(),
        frame.own.astype("u1").tobytes(),
        frame.feature.astype("<f4").tobytes(),
        frame.structure.astype("<f4").tobytes(),
    ]
    return pack(MAGIC, VERSION, header, blocks)


def decode(data: bytes) -> PlanFrame:
    """The frame that `encode` wrote, within the precision of its numbers.

    Raises:
        SchemaError: another version wrote it.
        FormatError: it is no such frame, or is damaged.
    """
    header, body = unpack(data, MAGIC, VERSION)
    try:
        n_tokens = int(header["tokens"])
        atoms = tuple(_atom(atom) for atom in header["atoms"])
        cells = cells_from_json(header["cells"])
        steps = tuple(int(step) for step in header["steps"])
        sample, success = int(header["sample"]), header["success"]
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the header of the plan's frame is damaged ({error!r})") from error
    parts = (("<u2", n_tokens * len(atoms)), ("u1", n_tokens), ("<f4", n_tokens), ("<f4", n_tokens))
    sizes = [pad4(count * np.dtype(kind).itemsize) for kind, count in parts]
    if n_tokens < 0 or sum(sizes) != len(body):
        raise FormatError(f"the plan's frame has {len(body)} bytes of numbers, not {sum(sizes)}")
    starts = np.cumsum([0, *sizes[:-1]])
    shares, own, feature, structure = (
        np.frombuffer(body, kind, count, int(start))
        for (kind, count), start in zip(parts, starts, strict=True)
    )
    return PlanFrame(
        sample=sample,
        success=success,
        cells=cells,
        atoms=atoms,
        shares=shares.reshape(n_tokens, len(atoms)) / _FULL,
        own=own.astype(bool),
        feature=feature,
        structure=structure,
        steps=steps,
    )


def _atom(found: list[Any]) -> AtomLabel:
    name, location, mass, spread, text = found
    return AtomLabel(int(name), float(location), float(mass), float(spread), str(text))


def _check(frame: PlanFrame) -> None:
    n_tokens, n_atoms = len(frame.own), len(frame.atoms)
    held = sum(cell.n_tokens for cell in frame.cells)
    shapes = (frame.shares.shape, frame.feature.shape, frame.structure.shape, (held,))
    if shapes != ((n_tokens, n_atoms), (n_tokens,), (n_tokens,), (n_tokens,)):
        raise ShapeError(
            f"a plan's frame of {n_tokens} tokens and {n_atoms} atoms got shares, feature, "
            f"structure and cells of {shapes}"
        )
    if any(not 0 <= a < b for a, b in pairwise((*frame.steps, n_tokens))):
        raise ShapeError(f"sentences start at {frame.steps} in a rollout of {n_tokens} tokens")
