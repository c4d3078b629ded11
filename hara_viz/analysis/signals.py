"""What can be shown per token of a group: values, their meaning, and why one is missing.

Values are packed [N] float64 over all tokens of the group, rollout after rollout, NaN where unknown
(an unscored rollout has no advantage to show that differs from zero, but it may lack entropy).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hara_viz.credit import Credit
from hara_viz.errors import InvalidInputError
from hara_viz.types import RolloutGroup


@dataclass(frozen=True, slots=True)
class Signal:
    """One number per token, as a list of choices shows it."""

    name: str
    """Short and stable: it stands in links."""
    label: str
    meaning: str
    """One sentence."""
    signed: bool
    """True: zero is the centre of the colour scale."""
    values: Callable[[RolloutGroup, Credit], np.ndarray | None]
    missing: str = ""
    """Why `values` may be None, and what fills it."""


def _packed(group: RolloutGroup, name: str) -> np.ndarray | None:
    rows: list[Sequence[float] | None] = [getattr(r, name) for r in group.rollouts]
    if all(row is None for row in rows):
        return None
    parts = [
        np.full(len(r.completion_ids), np.nan) if row is None else np.asarray(row, np.float64)
        for r, row in zip(group.rollouts, rows, strict=True)
    ]
    return np.concatenate(parts)


def _per_token(group: RolloutGroup, per_rollout: Sequence[float]) -> np.ndarray:
    return np.repeat(np.asarray(per_rollout, np.float64), lengths_of(group))


def _surprisal(group: RolloutGroup) -> np.ndarray | None:
    logprobs = _packed(group, "logprobs")
    return None if logprobs is None else 0.0 - logprobs


def _recorded(group: RolloutGroup) -> np.ndarray | None:
    per_token = _packed(group, "recorded_advantages")
    if per_token is not None:
        return per_token
    scalars = [r.recorded_advantage for r in group.rollouts]
    if all(value is None for value in scalars):
        return None
    return _per_token(group, [np.nan if v is None else v for v in scalars])


def _recorded_gap(group: RolloutGroup, credit: Credit) -> np.ndarray | None:
    recorded = _recorded(group)
    return None if recorded is None else recorded - credit.advantages.double().numpy()


def _before(group: RolloutGroup, credit: Credit) -> np.ndarray:
    return _per_token(group, credit.baseline.tolist())


_NO_LOGPROBS = "This run holds no log-probabilities; `hara-viz states RUN --model …` fills them in."
_NO_ENTROPY = "This run holds no entropies; `hara-viz states RUN --model …` fills them in."
_NO_RECORD = "No trainer recorded advantages for this group; runs written by a recorder have them."

SIGNALS: dict[str, Signal] = {
    signal.name: signal
    for signal in (
        Signal(
            "novelty",
            "Novelty",
            "What the token contributes to the FGW distance between its rollout and the barycenter "
            "of the rollouts with the same outcome.",
            False,
            lambda group, credit: credit.novelty.double().numpy(),
        ),
        Signal(
            "feature",
            "Novelty, feature part",
            "The part of the novelty that comes from the hidden states.",
            False,
            lambda group, credit: credit.novelty_feature.double().numpy(),
        ),
        Signal(
            "structure",
            "Novelty, structure part",
            "The part of the novelty that comes from where the token stands in its rollout.",
            False,
            lambda group, credit: credit.novelty_structure.double().numpy(),
        ),
        Signal(
            "weight",
            "Weight − 1",
            "How much more (or less) than 1 the advantage is multiplied by.",
            True,
            lambda group, credit: credit.weights.double().numpy() - 1.0,
        ),
        Signal(
            "advantage",
            "Advantage, reweighted",
            "What the optimizer gets for this token.",
            True,
            lambda group, credit: credit.advantages.double().numpy(),
        ),
        Signal(
            "before",
            "Advantage before reweighting",
            "The same for all tokens of a rollout: the baseline's advantage.",
            True,
            _before,
        ),
        Signal(
            "shift",
            "Difference to uniform GRPO",
            "Reweighted advantage minus the advantage before.",
            True,
            lambda group, credit: credit.advantages.double().numpy() - _before(group, credit),
        ),
        Signal(
            "entropy",
            "Entropy",
            "Entropy in nats of the next-token distribution that the token was drawn from.",
            False,
            lambda group, credit: _packed(group, "entropy"),
            _NO_ENTROPY,
        ),
        Signal(
            "surprisal",
            "Surprisal (−log p)",
            "How unlikely the token was when it was drawn, in nats.",
            False,
            lambda group, credit: _surprisal(group),
            _NO_LOGPROBS,
        ),
        Signal(
            "recorded",
            "Recorded advantage",
            "The advantage that the trainer wrote down.",
            True,
            lambda group, credit: _recorded(group),
            _NO_RECORD,
        ),
        Signal(
            "recorded-gap",
            "Recorded − recomputed",
            "Zero where the trainer's advantage is the one computed here.",
            True,
            _recorded_gap,
            _NO_RECORD,
        ),
    )
}


def lengths_of(group: RolloutGroup) -> list[int]:
    """Tokens of each rollout."""
    return [len(rollout.completion_ids) for rollout in group.rollouts]


def signal_values(name: str, group: RolloutGroup, credit: Credit) -> np.ndarray | None:
    """The values [N] of a signal; None if the group lacks what it needs.

    Raises:
        InvalidInputError: there is no signal of that name.
    """
    signal = SIGNALS.get(name)
    if signal is None:
        raise InvalidInputError(f"there is no signal {name!r}; there are {', '.join(SIGNALS)}")
    return signal.values(group, credit)
