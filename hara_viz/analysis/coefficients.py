"""What a token's gradient really carried, beside the advantage it was given.

A trainer's loss turns the advantage A_t of a token into the coefficient of ∇ log π of that token,

    c_t = −∂loss / ∂ log π_t = A_t · f_t,

where f_t holds the length normaliser, the importance ratio and whether it was clipped. Every loss
of TRL is proportional to A_t as long as its sign stays, and weights never turn a sign; so f_t of
the recorded advantage holds for a recomputed one too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hara_viz.analysis.signals import Signal, Term
from hara_viz.credit import Credit
from hara_viz.types import RolloutGroup

_MISSING = (
    "No trainer recorded what the gradient of these tokens carried; runs that "
    "`hara_viz.integrations.trl` records have it."
)

RECORDED = Signal(
    "coefficient",
    "Coefficient, recorded",
    "What multiplied the token's gradient in the trainer's loss: its advantage with length "
    "normaliser, importance ratio and clipping (−∂loss/∂log p).",
    True,
    (Term(1, "coefficient"),),
    _MISSING,
)
RECOMPUTED = Signal(
    "coefficient-recomputed",
    "Coefficient, recomputed",
    "The same for the advantages computed here: the recorded factor of the loss times the "
    "recomputed advantage.",
    True,
    (Term(1, "coefficient-recomputed"),),
    _MISSING,
)
GAP = Signal(
    "coefficient-gap",
    "Coefficient, recorded − recomputed",
    "Zero where the gradient carried what is computed here.",
    True,
    (Term(1, "coefficient-gap"),),
    _MISSING,
)


def has_coefficients(group: RolloutGroup) -> bool:
    """Whether a trainer recorded the coefficients of any rollout."""
    return any(rollout.recorded_coefficients is not None for rollout in group.rollouts)


def recorded_coefficients(group: RolloutGroup) -> np.ndarray:
    """c_t [N] as recorded, NaN where it is not known."""
    return _packed(group, [rollout.recorded_coefficients for rollout in group.rollouts])


def recomputed_coefficients(group: RolloutGroup, credit: Credit) -> np.ndarray:
    """f_t · A_t [N] with the advantages of `credit`.

    Where the recorded advantage is 0 its factor cannot be told: 0 if the recomputed advantage is 0
    too, else NaN.
    """
    advantages = credit.advantages.double().numpy()
    recorded = _packed(group, [rollout.recorded_advantages for rollout in group.rollouts])
    known = np.where(recorded != 0, recorded, np.nan)
    scaled = recorded_coefficients(group) * advantages / known
    return np.where((recorded == 0) & (advantages == 0), 0.0, scaled)


def _packed(group: RolloutGroup, rows: Sequence[Sequence[float] | None]) -> np.ndarray:
    lengths = [len(rollout.completion_ids) for rollout in group.rollouts]
    parts = [
        np.full(n, np.nan) if row is None else np.asarray(row, np.float64)
        for n, row in zip(lengths, rows, strict=True)
    ]
    return np.concatenate(parts)
