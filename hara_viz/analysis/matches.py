"""What a token is matched with: atoms of its barycenter, and tokens of sibling rollouts through it.

A plan row, scaled to sum 1, says where a token's mass goes; a plan column, scaled to sum 1, says
which tokens an atom is made of. Both are read off the plans; no hidden state is needed.
"""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from hara_viz.credit import OutcomeClass


class AtomShare(NamedTuple):
    """An atom and the share in [0, 1] of the token's mass that goes there."""

    atom: int
    share: float
    location: float
    """Where the atom stands, in the units of the barycenter's locations."""


class TokenShare(NamedTuple):
    """A token and the share in [0, 1] of the atom that is made of it, within its rollout."""

    row: int
    token: int
    share: float


def outcome_of_row(outcomes: tuple[OutcomeClass, ...], row: int) -> OutcomeClass | None:
    """The outcome class that holds a row of the batch; None for unscored and empty rollouts."""
    return next((outcome for outcome in outcomes if row in outcome.rows), None)


def atoms_of_token(outcome: OutcomeClass, row: int, token: int, top: int = 3) -> list[AtomShare]:
    """The atoms that take most of a token's mass, largest first; none for a lone rollout."""
    plan = _plan(outcome, row)
    if plan is None or outcome.barycenter is None or token >= plan.shape[0]:
        return []
    shares = plan[token] / plan[token].sum().clamp_min(1e-30)
    best = shares.topk(min(top, len(shares)))
    locations = outcome.barycenter.locations
    return [
        AtomShare(int(atom), float(share), float(locations[atom]))
        for share, atom in zip(best.values, best.indices, strict=True)
    ]


def tokens_of_atom(
    outcome: OutcomeClass, atom: int, *, without_row: int | None = None
) -> list[TokenShare]:
    """In each rollout of the class the token that gives most to an atom, largest share first."""
    found: list[TokenShare] = []
    for row in outcome.rows:
        plan = _plan(outcome, row)
        if plan is None or row == without_row:
            continue
        column = plan[:, atom]
        token = int(column.argmax())
        found.append(TokenShare(row, token, float(column[token] / column.sum().clamp_min(1e-30))))
    return sorted(found, key=lambda match: -match.share)


def _plan(outcome: OutcomeClass, row: int) -> Tensor | None:
    if not outcome.plans or row not in outcome.rows:
        return None
    return outcome.plans[outcome.rows.index(row)]
