"""What can be shown per token of a group: values, their meaning, and why one is missing.

A signal is Σ coefficient · (channel, or 1) · (A_r of the rollout, or 1). This is its one
definition: tables evaluate it here, and the heatmap's frame carries it to the browser, which
evaluates it there.

Channels and signals are packed [N] float64 over all tokens of the group, rollout after rollout, NaN
where unknown. Signals that ask for more than a group and its credit (another checkpoint, another
solve) are defined beside what computes them, in `hara_viz.backend.further_signals`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch import Tensor

from hara_viz.credit import Credit
from hara_viz.errors import InvalidInputError
from hara_viz.types import Rollout, RolloutGroup


class Term(NamedTuple):
    """coefficient · channel · (A_r if `by_advantage`); no channel stands for 1."""

    coefficient: float
    channel: str | None
    by_advantage: bool = False


@dataclass(frozen=True, slots=True)
class Signal:
    """One number per token, and how it is made from channels."""

    name: str
    """Short and stable: it stands in links."""
    label: str
    meaning: str
    """One sentence."""
    signed: bool
    """True: diverging colours with zero in the middle; False: sequential."""
    terms: tuple[Term, ...]
    missing: str = ""
    """Why its channels may be missing, and what fills them."""


class Offer(NamedTuple):
    """A signal that is not at hand but can be asked for."""

    signal: Signal
    locked: str = ""
    """Why it cannot be computed now, and the command or click that changes that; empty: it can."""


Channel = Callable[[RolloutGroup, Credit], np.ndarray | None]


def _of_rollouts(name: str) -> Channel:
    def values(group: RolloutGroup, credit: Credit) -> np.ndarray | None:
        return _packed([getattr(rollout, name) for rollout in group.rollouts], group)

    return values


def _packed(rows: Sequence[Sequence[float] | None], group: RolloutGroup) -> np.ndarray | None:
    if all(row is None for row in rows):
        return None
    parts = [
        np.full(n, np.nan) if row is None else np.asarray(row, np.float64)
        for n, row in zip(lengths_of(group), rows, strict=True)
    ]
    return np.concatenate(parts)


def _novelty(part: str) -> Channel:
    def values(group: RolloutGroup, credit: Credit) -> np.ndarray:
        known = _known_novelty(group, credit) & _own(group)
        return np.where(known, _array(getattr(credit, part)), np.nan)

    return values


def _weight(group: RolloutGroup, credit: Credit) -> np.ndarray:
    return np.where(_own(group), _array(credit.weights), np.nan)


def recorded_advantages(group: RolloutGroup) -> np.ndarray | None:
    """[N] as a trainer wrote them down, a scalar one for all tokens of its rollout; None: nobody
    did.
    """
    return _packed([_recorded_of(rollout) for rollout in group.rollouts], group)


def _recorded_of(rollout: Rollout) -> Sequence[float] | None:
    if rollout.recorded_advantages is not None or rollout.recorded_advantage is None:
        return rollout.recorded_advantages
    return [rollout.recorded_advantage] * len(rollout.completion_ids)


def _known_novelty(group: RolloutGroup, credit: Credit) -> np.ndarray:
    """[N]: credit holds zeros where a rollout has no novelty, and where it was unscored."""
    lengths = lengths_of(group)
    parts = credit.novelty.split(lengths)
    rows = [
        r.reward is not None and bool(np.isfinite(r.reward)) and credit.knows_novelty(row, part)
        for row, (r, part) in enumerate(zip(group.rollouts, parts, strict=True))
    ]
    return np.repeat(np.asarray(rows, bool), lengths)


def _own(group: RolloutGroup) -> np.ndarray:
    """[N]: tokens that the policy did not sample (a tool's output) earn nothing."""
    rows = [r.sampled_mask or (True,) * len(r.completion_ids) for r in group.rollouts]
    return np.concatenate([np.asarray(row, bool) for row in rows])


def _array(values: Tensor) -> np.ndarray:
    return values.double().numpy()


CHANNELS: dict[str, Channel] = {
    "feature": _novelty("novelty_feature"),
    "structure": _novelty("novelty_structure"),
    "weight": _weight,
    "logprob": _of_rollouts("logprobs"),
    "entropy": _of_rollouts("entropy"),
    "recorded": lambda group, credit: recorded_advantages(group),
}

BASE_CHANNELS = ("feature", "structure", "weight", "logprob", "entropy")
"""Those that nearly every run has: they travel together, the others on demand."""

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
            (Term(1, "feature"), Term(1, "structure")),
        ),
        Signal(
            "feature",
            "Novelty, feature part",
            "The part of the novelty that comes from the hidden states.",
            False,
            (Term(1, "feature"),),
        ),
        Signal(
            "structure",
            "Novelty, structure part",
            "The part of the novelty that comes from where the token stands in its rollout.",
            False,
            (Term(1, "structure"),),
        ),
        Signal(
            "weight",
            "Weight − 1",
            "How much more (or less) than 1 the advantage is multiplied by.",
            True,
            (Term(1, "weight"), Term(-1, None)),
        ),
        Signal(
            "advantage",
            "Advantage, reweighted",
            "What the optimizer gets for this token.",
            True,
            (Term(1, "weight", by_advantage=True),),
        ),
        Signal(
            "before",
            "Advantage before reweighting",
            "The same for all tokens of a rollout: the baseline's advantage.",
            True,
            (Term(1, None, by_advantage=True),),
        ),
        Signal(
            "shift",
            "Difference to uniform GRPO",
            "Reweighted advantage minus the advantage before.",
            True,
            (Term(1, "weight", by_advantage=True), Term(-1, None, by_advantage=True)),
        ),
        Signal(
            "entropy",
            "Entropy",
            "Entropy in nats of the next-token distribution that the token was drawn from.",
            False,
            (Term(1, "entropy"),),
            _NO_ENTROPY,
        ),
        Signal(
            "surprisal",
            "Surprisal (−log p)",
            "How unlikely the token was when it was drawn, in nats.",
            False,
            (Term(-1, "logprob"),),
            _NO_LOGPROBS,
        ),
        Signal(
            "recorded",
            "Recorded advantage",
            "The advantage that the trainer wrote down.",
            True,
            (Term(1, "recorded"),),
            _NO_RECORD,
        ),
        Signal(
            "recorded-gap",
            "Recorded − recomputed",
            "Zero where the trainer's advantage is the one computed here.",
            True,
            (Term(1, "recorded"), Term(-1, "weight", by_advantage=True)),
            _NO_RECORD,
        ),
    )
}


def lengths_of(group: RolloutGroup) -> list[int]:
    """Tokens of each rollout."""
    return [len(rollout.completion_ids) for rollout in group.rollouts]


def channel_values(name: str, group: RolloutGroup, credit: Credit) -> np.ndarray | None:
    """The values [N] of a channel; None if no rollout of the group has them."""
    return CHANNELS[name](group, credit)


def channels_of(signal: Signal) -> tuple[str, ...]:
    """The channels that a signal is made of."""
    return tuple(dict.fromkeys(term.channel for term in signal.terms if term.channel is not None))


def evaluate(
    signal: Signal, channels: Mapping[str, np.ndarray], advantages: np.ndarray
) -> np.ndarray:
    """The values [N] of a signal.

    Args:
        signal: its terms name keys of `channels`.
        channels: name -> [N].
        advantages: [N], A_r of each token's rollout; NaN where unknown.
    """
    total = np.zeros(len(advantages))
    for term in signal.terms:
        factor = 1.0 if term.channel is None else np.asarray(channels[term.channel], np.float64)
        total = total + term.coefficient * factor * (advantages if term.by_advantage else 1.0)
    return total


def signal_values(name: str, group: RolloutGroup, credit: Credit) -> np.ndarray | None:
    """The values [N] of a signal; None if the group lacks what it needs.

    Raises:
        InvalidInputError: there is no signal of that name.
    """
    signal = SIGNALS.get(name)
    if signal is None:
        raise InvalidInputError(f"there is no signal {name!r}; there are {', '.join(SIGNALS)}")
    channels = {c: channel_values(c, group, credit) for c in channels_of(signal)}
    known = {c: values for c, values in channels.items() if values is not None}
    if len(known) < len(channels):
        return None
    return evaluate(signal, known, advantages_of(group, credit))


def advantages_of(group: RolloutGroup, credit: Credit) -> np.ndarray:
    """[N]: A_r of each token's rollout, before reweighting."""
    return np.repeat(_array(credit.baseline), lengths_of(group))
