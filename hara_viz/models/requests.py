"""What goes into sampling and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

from hara_viz.models.prompt import RenderedPrompt
from hara_viz.types import Finish


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """One rollout to draw."""

    problem_id: str
    group: int
    sample: int
    prompt: RenderedPrompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One rollout as drawn. Sequences are per token of `ids`."""

    request: SampleRequest
    ids: tuple[int, ...]
    """With the end token, if one was drawn."""
    logprobs: tuple[float, ...]
    entropy: tuple[float, ...]
    """Of the model's own distribution (temperature 1, nothing cut), in nats."""
    finish: Finish
    logprobs_kind: str = "raw"
    """"raw": log-probabilities of the model itself, before temperature and cuts."""
    error: str | None = None
    """Why nothing was drawn, if `finish` is ABORT."""
    states: tuple[Tensor, ...] | None = field(default=None, compare=False)
    """One [T, D] per layer asked for, as the model read the tokens; None: not kept, or lost when
    memory ran out, so that the completion has to be read again."""
