"""A fixed text under each checkpoint: teacher-forced, so that only the policy differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hara_viz.analysis.ranks import spearman
from hara_viz.analysis.signals import channel_values
from hara_viz.backend.compare import Checkpoint
from hara_viz.backend.credit import credit_group
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError
from hara_viz.store import Run
from hara_viz.types import GroupKey, RolloutGroup

__all__ = ["TextReading", "read_text", "reader_command", "readers_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
    """What one checkpoint says of a group's completions."""

    checkpoint: Checkpoint
    logprobs: np.ndarray | None
    """[N] of the model itself, in nats, NaN where unknown; None: it has not read the text."""
    novelty: np.ndarray | None
    """[N] under its own states; None: they are not kept."""
    is_own: bool
    """It is the checkpoint that wrote the text."""
    log_ratio: np.ndarray | None
    """[N] log p under it minus log p under the writer."""
    agreement: float | None
    """Spearman of its novelty with that under the writer's states; None: undefined."""

    @property
    def mean_log_ratio(self) -> float | None:
        """Per token; None: unknown."""
        known = None if self.log_ratio is None else self.log_ratio[np.isfinite(self.log_ratio)]
        return None if known is None or not len(known) else float(known.mean())


def read_text(
    run: Run,
    key: GroupKey,
    checkpoints: Sequence[Checkpoint],
    config: CreditConfig,
    layer: int | None = None,
) -> tuple[TextReading, ...]:
    """The rollouts of one group under every checkpoint that has read them; the writer first.

    Args:
        run: whose rollouts are the fixed text.
        key: the group.
        checkpoints: who may have read it; each checkpoint counts once.
        config: of the novelty.
        layer: whose states; None: the highest that each keeps.
    """
    group = run.load_group(key)
    own = run.info.checkpoint.fingerprint if run.info.checkpoint else None
    writer_logprobs = _own_logprobs(group)
    writer_novelty = _novelty(run, key, config, layer, None)
    found: list[TextReading] = []
    for checkpoint in readers_of(checkpoints, own):
        is_own = own is not None and checkpoint.fingerprint == own
        if is_own:
            logprobs, novelty = writer_logprobs, writer_novelty
        else:
            logprobs = _read_logprobs(run, key, checkpoint.fingerprint)
            novelty = _novelty(run, key, config, layer, checkpoint.fingerprint or "unknown")
        ratio = None
        if logprobs is not None and writer_logprobs is not None:
            ratio = logprobs - writer_logprobs
        found.append(
            TextReading(
                checkpoint=checkpoint,
                logprobs=logprobs,
                novelty=novelty,
                is_own=is_own,
                log_ratio=ratio,
                agreement=_agreement(novelty, writer_novelty),
            )
        )
    return tuple(found)


def readers_of(checkpoints: Sequence[Checkpoint], own: str | None) -> tuple[Checkpoint, ...]:
    """Each checkpoint once (runs may share one), the writer first; those of unknown weights left
    out.
    """
    by_print: dict[str, Checkpoint] = {}
    for checkpoint in checkpoints:
        if checkpoint.fingerprint:
            by_print.setdefault(checkpoint.fingerprint, checkpoint)
    return tuple(sorted(by_print.values(), key=lambda c: c.fingerprint != own))


def reader_command(run: str, checkpoint: Checkpoint) -> str:
    """The command that lets a checkpoint read a run."""
    return f"hara-viz states {run} --model {checkpoint.weights or 'CHECKPOINT'}"


def _own_logprobs(group: RolloutGroup) -> np.ndarray | None:
    """Log-probabilities of the model that wrote the text; None where they are of another kind."""
    if all(r.logprobs is None for r in group.rollouts):
        return None
    if any(r.logprobs is not None and r.logprobs_kind != "raw" for r in group.rollouts):
        return None
    return np.concatenate(
        [
            np.full(len(r.completion_ids), np.nan) if r.logprobs is None else np.array(r.logprobs)
            for r in group.rollouts
        ]
    )


def _read_logprobs(run: Run, key: GroupKey, source: str | None) -> np.ndarray | None:
    readings = None if source is None else run.load_readings(key, source)
    if readings is None:
        return None
    return np.concatenate([np.array(reading.logprobs) for reading in readings])


def _novelty(
    run: Run, key: GroupKey, config: CreditConfig, layer: int | None, source: str | None
) -> np.ndarray | None:
    if source is not None and not run.layers_of(source):
        return None
    if layer is not None and layer not in run.layers_of(source):
        layer = None
    try:
        found = credit_group(run, key, config, layer, source=source)
    except HaraError:
        return None
    parts = [channel_values(name, found.group, found.credit) for name in ("feature", "structure")]
    return np.sum([part for part in parts if part is not None], axis=0)


def _agreement(novelty: np.ndarray | None, other: np.ndarray | None) -> float | None:
    if novelty is None or other is None:
        return None
    known = np.isfinite(novelty) & np.isfinite(other)
    return spearman(novelty[known], other[known])
