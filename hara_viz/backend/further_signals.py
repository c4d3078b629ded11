"""Signals that take more than a group and its credit: another checkpoint, another solve.

They are offered with every group and computed when somebody asks for one. A further one is one
entry of `FURTHER`; what cannot be computed now is offered all the same, with the reason and the
command that changes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hara_viz.analysis import coefficients
from hara_viz.analysis.signals import (
    BASE_CHANNELS,
    CHANNELS,
    SIGNALS,
    Offer,
    Signal,
    Term,
    channels_of,
    recorded_advantages,
)
from hara_viz.backend.credit import (
    NEEDS_STATES,
    GroupCredit,
    credit_group,
    credit_of,
    default_layer,
)
from hara_viz.backend.states import log_ratio
from hara_viz.credit import CreditConfig
from hara_viz.errors import InvalidInputError
from hara_viz.store import Run, open_run
from hara_viz.types import CheckpointInfo, GroupKey, RolloutGroup, is_success

LOG_RATIO = "log-ratio"


@dataclass(frozen=True, slots=True)
class Asked:
    """A group, and how its credit is computed."""

    run: Run
    group: RolloutGroup
    config: CreditConfig
    layer: int | None


@dataclass(frozen=True, slots=True)
class Further:
    """A signal that is computed on demand; its terms name channels of its own and of the credit."""

    signal: Signal
    values: Callable[[Asked], np.ndarray]
    """The channel [N] that the signal brings (`own_channel`)."""
    locked: Callable[[Asked], str] = lambda asked: ""
    """Why `values` would fail, and what changes that; empty: it would not."""
    is_read: bool = False
    """True: `values` takes no time, whatever the size of the group."""


def _solved(asked: Asked, **changes: Any) -> np.ndarray:
    """The novelty [N] under another config."""
    config = replace(asked.config, granularity="token", **changes)
    layer = default_layer(asked.run) if asked.layer is None else asked.layer
    assert layer is not None  # else the signal is locked
    states = asked.run.load_states(asked.group.key, layer)
    return _novelty(asked, credit_of(asked.group, states, config))


def _novelty(asked: Asked, found: GroupCredit) -> np.ndarray:
    novelty = CHANNELS["feature"](asked.group, found.credit)
    structure = CHANNELS["structure"](asked.group, found.credit)
    assert novelty is not None and structure is not None
    return novelty + structure


def _needs_both_outcomes(asked: Asked) -> str:
    threshold = asked.config.success_threshold
    outcomes = {is_success(r.reward, threshold) for r in asked.group.rollouts} - {None}
    if len(outcomes) < 2:
        return (
            "All scored rollouts of this group have the same outcome, so there is no other one to "
            "compare with; choose a mixed problem in the sidebar."
        )
    return _needs_states(asked)


def _needs_states(asked: Asked) -> str:
    layer = default_layer(asked.run) if asked.layer is None else asked.layer
    states = None if layer is None else asked.run.load_states(asked.group.key, layer)
    lengths = [len(rollout.completion_ids) for rollout in asked.group.rollouts]
    if states is not None and states.offsets.diff().tolist() == lengths:
        return ""
    return (
        "This run keeps no hidden states of this group. Fill them in: "
        f"`hara-viz states {asked.run.name} --model MODEL`"
    )


def _recorded(asked: Asked) -> np.ndarray:
    values = recorded_advantages(asked.group)
    assert values is not None  # else the signal is locked
    return values


def _needs_record(asked: Asked) -> str:
    return SIGNALS["recorded"].missing if recorded_advantages(asked.group) is None else ""


def _coefficients(asked: Asked) -> np.ndarray:
    return coefficients.recorded_coefficients(asked.group)


def _coefficients_again(asked: Asked) -> np.ndarray:
    found = credit_group(asked.run, asked.group.key, asked.config, asked.layer)
    return coefficients.recomputed_coefficients(asked.group, found.credit)


def _coefficient_gap(asked: Asked) -> np.ndarray:
    return _coefficients(asked) - _coefficients_again(asked)


def _needs_coefficients(asked: Asked) -> str:
    has = coefficients.has_coefficients(asked.group)
    return "" if has else coefficients.RECORDED.missing


def _needs_coefficients_and_credit(asked: Asked) -> str:
    reads_states = asked.config.signal in NEEDS_STATES
    return _needs_coefficients(asked) or (_needs_states(asked) if reads_states else "")


def _position(asked: Asked) -> np.ndarray:
    config = replace(asked.config, signal="position", granularity="token")
    return _novelty(asked, credit_of(asked.group, None, config))


FURTHER: tuple[Further, ...] = (
    Further(
        Signal(
            "opposite",
            "Novelty against the other outcome",
            "What the token contributes to the distance between its rollout and the barycenter of "
            "the rollouts with the opposite outcome: high where right and wrong part ways.",
            False,
            (Term(1, "opposite"),),
        ),
        lambda asked: _solved(asked, signal="hara", reference="opposite_outcome"),
        _needs_both_outcomes,
    ),
    Further(
        Signal(
            "shear",
            "Rival: SHEAR",
            "Wasserstein distance of the token's span of states to the nearest span of the other "
            "outcome (arXiv 2604.23318).",
            False,
            (Term(1, "shear"),),
        ),
        lambda asked: _solved(asked, signal="shear"),
        _needs_both_outcomes,
    ),
    Further(
        Signal(
            "position",
            "Rival: position",
            "Where the token stands in its rollout, from 0 to 1.",
            False,
            (Term(1, "position"),),
        ),
        _position,
        is_read=True,
    ),
    Further(SIGNALS["recorded"], _recorded, _needs_record, is_read=True),
    Further(SIGNALS["recorded-gap"], _recorded, _needs_record, is_read=True),
    Further(coefficients.RECORDED, _coefficients, _needs_coefficients, is_read=True),
    Further(coefficients.RECOMPUTED, _coefficients_again, _needs_coefficients_and_credit),
    Further(coefficients.GAP, _coefficient_gap, _needs_coefficients_and_credit),
)
"""One entry per signal."""


def offers(asked: Asked) -> tuple[Offer, ...]:
    """The signals that can be asked for of a group, locked ones too; without computing any."""
    return tuple(Offer(further.signal, further.locked(asked)) for further in _all(asked.run))


def further_of(run: Run, name: str) -> Further | None:
    """A further signal by its name; None if there is none."""
    return next((further for further in _all(run) if further.signal.name == name), None)


def is_further(name: str) -> bool:
    """Whether a link may ask for a signal of this name, whatever the run."""
    return name.split("@")[0] == LOG_RATIO or name in {f.signal.name for f in FURTHER}


def own_channel(signal: Signal) -> str:
    """The channel of a further signal that no credit holds."""
    return next(c for c in channels_of(signal) if c not in BASE_CHANNELS)


def further_values(asked: Asked, name: str) -> np.ndarray:
    """The values [N] of `own_channel` of a further signal, NaN where unknown.

    Raises:
        InvalidInputError: there is no such signal, or it is locked; the sentence says why.
    """
    found = further_of(asked.run, name)
    if found is None:
        names = ", ".join(f.signal.name for f in _all(asked.run))
        raise InvalidInputError(f"there is no signal {name!r} on demand; there are {names}")
    if reason := found.locked(asked):
        raise InvalidInputError(f"{found.signal.label}: {reason}")
    return found.values(asked)


def _all(run: Run) -> tuple[Further, ...]:
    own = run.info.checkpoint.fingerprint if run.info.checkpoint else None
    others = [reader for reader in run.readers if reader.fingerprint != own]
    return (*FURTHER, *(map(_ratio_to, others) if others else (_no_reference(run),)))


def _ratio_to(reader: CheckpointInfo) -> Further:
    name = f"{LOG_RATIO}@{reader.fingerprint[:8]}"
    signal = Signal(
        name,
        f"Log-ratio to {reader.path.rstrip('/').rsplit('/', 1)[-1]}",
        "log p of the token under the policy minus that under the reference checkpoint "
        f"{reader.path}, in nats.",
        True,
        (Term(1, name),),
    )
    source = reader.fingerprint
    return Further(
        signal,
        lambda asked: log_ratio(asked.run, asked.group.key, source).double().numpy(),
        lambda asked: _ratio_locked(asked, source),
        is_read=True,
    )


def _ratio_locked(asked: Asked, source: str) -> str:
    kinds = {r.logprobs_kind for r in asked.group.rollouts if r.logprobs is not None}
    if not kinds:
        return SIGNALS["surprisal"].missing
    if kinds - {"raw"}:
        named = ", ".join(sorted(map(str, kinds)))
        return (
            f"The log-probabilities of this run are of the kind {named}; only a model's own "
            "(kind raw) can be compared."
        )
    if asked.run.load_readings(asked.group.key, source) is None:
        return (
            "The reference has not read this group yet. Go on: "
            f"`hara-viz states {asked.run.name} --model REFERENCE --layers none`"
        )
    return ""


def _no_reference(run: Run) -> Further:
    signal = Signal(
        LOG_RATIO,
        "Log-ratio to a reference checkpoint",
        "log p of the token under the policy minus that under another checkpoint, in nats.",
        True,
        (Term(1, LOG_RATIO),),
    )
    reason = (
        "No other checkpoint has read this run. Let one: "
        f"`hara-viz states {run.name} --model REFERENCE --layers none`"
    )
    return Further(signal, lambda asked: np.zeros(0), lambda asked: reason, is_read=True)


def further_values_at(
    path: str, stamp: int, key: GroupKey, config: str, layer: int | None, name: str
) -> np.ndarray:
    """`further_values` by the run's path, for the side process; `stamp` as in `side_calls`.

    Raises:
        HaraError: as `further_values`.
    """
    del stamp
    run = open_run(path)
    group = run.load_group(GroupKey(*key))
    return further_values(Asked(run, group, CreditConfig.from_json(config), layer), name)
