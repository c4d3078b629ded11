"""What a card says. Its JSON holds the lines as plain lists, in the order of the fields below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple


class CardValue(NamedTuple):
    """A signal at the token."""

    label: str
    value: float | None
    below: float | None
    """Share in [0, 1] of the group's tokens with a smaller value; None where unknown."""


class CardAtom(NamedTuple):
    """An atom of the barycenter that takes a share of the token's mass."""

    atom: int
    share: float
    text: str | None
    """The words that it bears on every page; None: not looked up."""


class CardQuote(NamedTuple):
    """A token of another rollout between what stands around it."""

    sample: int
    token: int
    before: str
    inside: str
    after: str
    success: bool | None = None
    """Whether its rollout is right; None: unscored."""
    cosine: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A token and what is known of it."""

    sample: int
    token: int
    text: tuple[str, str, str]
    """Before, of and after the token."""
    facts: str
    values: tuple[CardValue, ...]
    note: str = ""
    """Why there are no atoms; empty if there are."""
    atoms: tuple[CardAtom, ...] = ()
    counterparts: tuple[CardQuote, ...] = ()
    """In other rollouts, through the nearest atom."""
    layer: int | None = None
    """Whose states `similar` were found with; None: not looked for."""
    similar: tuple[CardQuote, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """For the component; JSON knows no NaN, so unknown is null."""
        return {
            "sample": self.sample,
            "token": self.token,
            "text": self.text,
            "facts": self.facts,
            "values": [(v.label, _known(v.value), _known(v.below)) for v in self.values],
            "note": self.note,
            "atoms": self.atoms,
            "counterparts": self.counterparts,
            "layer": self.layer,
            "similar": self.similar,
        }


def _known(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
