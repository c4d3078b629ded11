"""The frame of two barycenters as text: an envelope with magic "HARABARY" and a header alone.

    sides   two of {success, rollouts, empty, closest, atoms}, right first
            closest   null, or [sample, text]: the real rollout nearest to the barycenter
            atoms     in reading order, [name, location, mass, spread, coverage, quotes]
            quotes    nearest first, [sample, token, before, inside, after]
    links   [i, j, share, gap]: places of the atoms in the two lists

Quotes are cut in Python and free of control characters (`text.inert`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from hara_viz.components.shared.envelope import pack, unpack
from hara_viz.errors import FormatError, ShapeError
from hara_viz.text import inert

MAGIC, VERSION = b"HARABARY", 1


class Quote(NamedTuple):
    """A real token in its context."""

    sample: int
    token: int
    """Of the completion."""
    before: str
    inside: str
    after: str


class AtomText(NamedTuple):
    """A support point in words and figures."""

    name: int
    """Column of the plans."""
    location: float
    mass: float
    """Times K: 1 is what is due."""
    spread: float
    coverage: float
    """Share of the rollouts that give at least half of what is due."""
    quotes: tuple[Quote, ...]


class Link(NamedTuple):
    """Two atoms that the matching pairs."""

    first: int
    """Place in the list of the right outcome."""
    second: int
    share: float
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One outcome."""

    success: bool
    n_rollouts: int
    atoms: tuple[AtomText, ...] = ()
    closest: tuple[int, str] | None = None
    """Sample number and text of the rollout nearest to the barycenter."""
    empty: str = ""
    """Why there is nothing, if there is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarycenterFrame:
    """Both outcomes and how they correspond."""

    sides: tuple[Side, Side]
    links: tuple[Link, ...]


def encode(frame: BarycenterFrame) -> bytes:
    """The frame as bytes; equal frames give equal bytes.

    Raises:
        ShapeError: a link leads to an atom that is not there.
        InvalidInputError: a number is NaN or infinite.
    """
    lengths = [len(side.atoms) for side in frame.sides]
    for link in frame.links:
        if not (0 <= link.first < lengths[0] and 0 <= link.second < lengths[1]):
            raise ShapeError(f"a link from {link.first} to {link.second}, with {lengths} atoms")
    header = {
        "sides": [_side(side) for side in frame.sides],
        "links": [list(link) for link in frame.links],
    }
    return pack(MAGIC, VERSION, header, [])


def decode(data: bytes) -> BarycenterFrame:
    """Inverse of `encode`.

    Raises:
        SchemaError: another version wrote it.
        FormatError: it is no such frame, or is damaged.
    """
    header, _ = unpack(data, MAGIC, VERSION)
    try:
        first, second = (_side_of(side) for side in header["sides"])
        links = tuple(Link(int(i), int(j), float(s), float(g)) for i, j, s, g in header["links"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the header of the barycenters is damaged ({error!r})") from error
    return BarycenterFrame(sides=(first, second), links=links)


def _side(side: Side) -> dict[str, Any]:
    return {
        "success": side.success,
        "rollouts": side.n_rollouts,
        "empty": side.empty,
        "closest": None if side.closest is None else [side.closest[0], inert(side.closest[1])],
        "atoms": [
            [*atom[:-1], [[q.sample, q.token, *map(inert, q[2:])] for q in atom.quotes]]
            for atom in side.atoms
        ],
    }


def _side_of(found: dict[str, Any]) -> Side:
    closest = found["closest"]
    return Side(
        success=bool(found["success"]),
        n_rollouts=int(found["rollouts"]),
        empty=str(found["empty"]),
        closest=None if closest is None else (int(closest[0]), str(closest[1])),
        atoms=tuple(map(_atom_of, found["atoms"])),
    )


def _atom_of(found: list[Any]) -> AtomText:
    name, location, mass, spread, coverage, quotes = found
    figures = float(location), float(mass), float(spread), float(coverage)
    return AtomText(int(name), *figures, tuple(map(_quote_of, quotes)))


def _quote_of(found: list[Any]) -> Quote:
    sample, token, before, inside, after = found
    return Quote(int(sample), int(token), str(before), str(inside), str(after))
