"""A batch of rollouts, packed along the tokens, checked once at the door."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import torch
from torch import Tensor

from hara_viz.credit.config import CreditConfig
from hara_viz.errors import InvalidInputError, ShapeError


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedBatch:
    """B rollouts with N own tokens in all."""

    states: Tensor
    """[N, D] in the caller's dtype: upcast class by class, never whole."""
    offsets: tuple[int, ...]
    """B+1 numbers; row b owns tokens offsets[b] : offsets[b+1]."""
    rewards: Tensor
    """[B] float64 on the CPU, NaN = unscored."""
    groups: tuple[int, ...]
    """[B]."""
    reasoning_step: Tensor | None = None
    logprobs: Tensor | None = None
    entropy: Tensor | None = None
    anchor_states: Tensor | None = None
    """[B, A, D]."""
    given: Tensor | None = None
    """[B] float64: the trainer's own A_r."""

    @property
    def n_rows(self) -> int:
        """B."""
        return len(self.groups)

    def length(self, row: int) -> int:
        """T of one row."""
        return self.offsets[row + 1] - self.offsets[row]

    def tokens(self, row: int) -> slice:
        """Where a row's tokens lie in [N]."""
        return slice(self.offsets[row], self.offsets[row + 1])

    def token_index(self, rows: tuple[int, ...]) -> Tensor:
        """Indices into [N] of the tokens of several rows, row after row."""
        device = self.states.device
        spans = [torch.arange(self.offsets[r], self.offsets[r + 1], device=device) for r in rows]
        return torch.cat(spans) if spans else torch.zeros(0, dtype=torch.long, device=device)

    def segments(self, rows: tuple[int, ...]) -> Tensor:
        """For the same tokens, the place of their row in `rows`: [n]."""
        device = self.states.device
        lengths = torch.tensor([self.length(r) for r in rows], device=device, dtype=torch.long)
        return torch.arange(len(rows), device=device).repeat_interleave(lengths)


def build_batch(
    states: Tensor,
    offsets: Tensor,
    rewards: Tensor,
    group_index: Tensor,
    *,
    reasoning_step: Tensor | None = None,
    logprobs: Tensor | None = None,
    entropy: Tensor | None = None,
    anchor_states: Tensor | None = None,
    baseline_advantages: Tensor | None = None,
) -> PackedBatch:
    """Check and gather the inputs of `assign_credit_packed`.

    Raises:
        ShapeError: an array that does not fit the others.
        InvalidInputError: infinite rewards, states that are not finite (the row is named), …
    """
    bounds = tuple(int(x) for x in offsets.tolist())
    n_rows, n_tokens = len(bounds) - 1, states.shape[0]
    if states.dim() != 2 or not states.is_floating_point():
        raise ShapeError(
            f"states: got {states.dtype} {tuple(states.shape)}, expected floats [N, D]"
        )
    ordered = all(a <= b for a, b in itertools.pairwise(bounds))
    if n_rows < 0 or bounds[0] != 0 or bounds[-1] != n_tokens or not ordered:
        raise ShapeError(f"offsets must rise from 0 to the {n_tokens} tokens of states")
    for name, values in (("rewards", rewards), ("group_index", group_index)):
        _check_length(name, values, n_rows, "rows")
    for name, values in (
        ("reasoning_step", reasoning_step),
        ("logprobs", logprobs),
        ("entropy", entropy),
    ):
        _check_length(name, values, n_tokens, "tokens")
    _check_length("baseline_advantages", baseline_advantages, n_rows, "rows")
    _check_length("anchor_states", anchor_states, n_rows, "rows")
    scores = rewards.detach().double().cpu()
    if bool(torch.isinf(scores).any()):
        row = int(torch.isinf(scores).nonzero()[0])
        raise InvalidInputError(f"reward of row {row} is infinite; use NaN for an unscored rollout")
    batch = PackedBatch(
        states=states.detach(),
        offsets=bounds,
        rewards=scores,
        groups=tuple(int(g) for g in group_index.tolist()),
        reasoning_step=reasoning_step,
        logprobs=logprobs,
        entropy=entropy,
        anchor_states=anchor_states,
        given=None if baseline_advantages is None else baseline_advantages.detach().double().cpu(),
    )
    _check_finite(batch)
    return batch


def _check_length(name: str, values: Tensor | None, expected: int, unit: str) -> None:
    if values is not None and (values.dim() == 0 or values.shape[0] != expected):
        raise ShapeError(
            f"{name}: got {tuple(values.shape)}, expected one entry for each of {expected} {unit}"
        )


def _check_finite(batch: PackedBatch) -> None:
    for row in range(batch.n_rows):
        if not bool(torch.isfinite(batch.states[batch.tokens(row)]).all()):
            raise InvalidInputError(
                f"hidden states of row {row} are not finite (float16 overflow?); "
                "store states as bfloat16 or float32"
            )
    if batch.given is not None and not bool(torch.isfinite(batch.given).all()):
        row = int((~torch.isfinite(batch.given)).nonzero()[0])
        raise InvalidInputError(f"baseline_advantages of row {row} is not finite")


def check_signal_inputs(batch: PackedBatch, config: CreditConfig) -> None:
    """Raise InvalidInputError if the config needs an input that was not given."""
    needed = {"entropy": batch.entropy, "surprisal": batch.logprobs}
    names = {"entropy": "entropy", "surprisal": "logprobs"}
    if config.signal in needed and needed[config.signal] is None:
        raise InvalidInputError(
            f'signal is "{config.signal}" but {names[config.signal]} was not given'
        )
    if "step" in config.shares() and batch.reasoning_step is None:
        raise InvalidInputError(
            'granularity has "step" but reasoning_step was not given; number the sentences of '
            "each row, or choose another level"
        )
    if config.signal == "hara" and config.anchors == "prompt" and batch.anchor_states is None:
        raise InvalidInputError('anchors is "prompt" but anchor_states were not given')
