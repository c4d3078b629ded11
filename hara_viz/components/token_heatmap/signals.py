"""The signals a heatmap can show, each as a sum of terms over the channels that a frame carries.

A value is Σ coefficient · (channel, or 1) · (A_r of the rollout, or 1). The definition travels in
the frame and the browser evaluates it, so what is on screen has one source. Names, labels and signs
are those of `hara_viz.analysis.signals`.
"""

from __future__ import annotations

from typing import NamedTuple


class Term(NamedTuple):
    """coefficient · channel · (A_r if `by_advantage`); no channel stands for 1."""

    coefficient: float
    channel: str | None
    by_advantage: bool = False


class SignalSpec(NamedTuple):
    """One number per token, and how it is made from channels."""

    name: str
    """Short and stable: it stands in links."""
    label: str
    meaning: str
    """One sentence."""
    signed: bool
    """True: diverging colours with zero in the middle; False: sequential."""
    terms: tuple[Term, ...]


SIGNALS = (
    SignalSpec(
        "novelty",
        "Novelty",
        "What the token contributes to the FGW distance between its rollout and the barycenter of "
        "the rollouts with the same outcome.",
        False,
        (Term(1, "feature"), Term(1, "structure")),
    ),
    SignalSpec(
        "feature",
        "Novelty, feature part",
        "The part of the novelty that comes from the hidden states.",
        False,
        (Term(1, "feature"),),
    ),
    SignalSpec(
        "structure",
        "Novelty, structure part",
        "The part of the novelty that comes from where the token stands in its rollout.",
        False,
        (Term(1, "structure"),),
    ),
    SignalSpec(
        "weight",
        "Weight − 1",
        "How much more (or less) than 1 the advantage is multiplied by.",
        True,
        (Term(1, "weight"), Term(-1, None)),
    ),
    SignalSpec(
        "advantage",
        "Advantage, reweighted",
        "What the optimizer gets for this token.",
        True,
        (Term(1, "weight", by_advantage=True),),
    ),
    SignalSpec(
        "before",
        "Advantage before reweighting",
        "The same for all tokens of a rollout: the baseline's advantage.",
        True,
        (Term(1, None, by_advantage=True),),
    ),
    SignalSpec(
        "shift",
        "Difference to uniform GRPO",
        "Reweighted advantage minus the advantage before.",
        True,
        (Term(1, "weight", by_advantage=True), Term(-1, None, by_advantage=True)),
    ),
    SignalSpec(
        "entropy",
        "Entropy",
        "Entropy in nats of the next-token distribution that the token was drawn from.",
        False,
        (Term(1, "entropy"),),
    ),
    SignalSpec(
        "surprisal",
        "Surprisal (−log p)",
        "How unlikely the token was when it was drawn, in nats.",
        False,
        (Term(-1, "logprob"),),
    ),
    SignalSpec(
        "recorded",
        "Recorded advantage",
        "The advantage that the trainer wrote down.",
        True,
        (Term(1, "recorded"),),
    ),
    SignalSpec(
        "recorded-gap",
        "Recorded − recomputed",
        "Zero where the trainer's advantage is the one computed here.",
        True,
        (Term(1, "recorded"), Term(-1, "weight", by_advantage=True)),
    ),
)


def available(channels: set[str]) -> tuple[SignalSpec, ...]:
    """The signals whose channels are all there, in order."""
    return tuple(
        signal
        for signal in SIGNALS
        if all(term.channel is None or term.channel in channels for term in signal.terms)
    )
