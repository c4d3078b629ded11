"""Teacher forcing: states, log-probabilities and entropy of given completions in one pass.

Sequences are padded on the right, so each token stands at its true position whatever kind of
position encoding the model has, and what stands behind a token cannot reach it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hara_viz.errors import ModelError, ShapeError
from hara_viz.models.memory import is_out_of_memory, release
from hara_viz.models.policy import Policy
from hara_viz.types import HiddenStates, Progress, Report, ignore_progress

BATCH_TOKENS = {"cuda": 16384}
DEFAULT_BATCH_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class TeacherForced:
    """What the policy makes of B given completions."""

    logprobs: list[Tensor]
    """B times [T] float32: log-probability of each token (temperature 1, nothing cut)."""
    entropy: list[Tensor]
    """B times [T] float32: entropy, in nats, of the distribution each token was drawn from."""
    states: tuple[HiddenStates, ...]
    """One per layer asked for, in rising order; on the CPU."""


def teacher_force(
    policy: Policy,
    prompts: Sequence[Sequence[int]],
    completions: Sequence[Sequence[int]],
    layers: Sequence[int] = (-1,),
    *,
    states_dtype: torch.dtype = torch.float32,
    batch_tokens: int | None = None,
    report: Report = ignore_progress,
) -> TeacherForced:
    """Read `prompts[b] + completions[b]` and return what is known of each completion token.

    The state of token t is the residual stream after the model has read t; its log-probability and
    entropy come from the distribution before it. The last layer is taken after the final norm.

    Args:
        policy: From `load_policy`.
        prompts: B sequences of at least one id.
        completions: B sequences of ids; may be empty.
        layers: Hidden states to keep, negative ones counted from the end; none = no states.
        states_dtype: Of the states returned. Never float16: large activations overflow it.
        batch_tokens: Tokens (padding included) of a pass; halved whenever memory runs out.
        report: Hears of progress in tokens.

    Raises:
        ShapeError: Lengths that disagree, an empty prompt, a sequence longer than the model reads.
        ModelError: Memory runs out with a single sequence; the model gives NaN.
    """
    _check(policy, prompts, completions, states_dtype)
    pass_ = _Pass(policy, policy.resolve_layers(layers), states_dtype)
    sequences = [(tuple(p), tuple(c)) for p, c in zip(prompts, completions, strict=True)]
    found: dict[int, _Scored] = {}
    total, done = sum(map(len, completions)), 0
    limit = batch_tokens or BATCH_TOKENS.get(policy.device.type, DEFAULT_BATCH_TOKENS)
    todo = sorted(range(len(sequences)), key=lambda b: -len(sequences[b][0] + sequences[b][1]))
    while todo:
        batch = _first_batch(todo, sequences, limit)
        try:
            scored = list(pass_.run([sequences[b] for b in batch]))
        except (RuntimeError, MemoryError) as error:
            limit = _smaller(batch, sequences, policy, error)
            continue
        found |= dict(zip(batch, scored, strict=True))
        todo = todo[len(batch) :]
        done += sum(len(sequences[b][1]) for b in batch)
        report(Progress(stage="reading states", done=done, total=total, unit="tokens"))
    return _packed([found[b] for b in range(len(sequences))], pass_, policy)


@dataclass(frozen=True, slots=True)
class _Scored:
    logprobs: Tensor
    entropy: Tensor
    states: tuple[Tensor, ...]
    """[T, D] per layer."""


class _Pass:
    """One forward pass over a batch of sequences."""

    def __init__(self, policy: Policy, layers: tuple[int, ...], dtype: torch.dtype) -> None:
        self.policy = policy
        self.layers = layers
        self.dtype = dtype

    @torch.inference_mode()
    def run(self, batch: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> Iterator[_Scored]:
        device, pad = self.policy.device, self.policy.pad_id
        width = max(len(p) + len(c) for p, c in batch)
        rows = [[*p, *c, *([pad] * (width - len(p) - len(c)))] for p, c in batch]
        ids = torch.tensor(rows, device=device)
        lengths = torch.tensor([len(p) + len(c) for p, c in batch], device=device)
        mask = (torch.arange(width, device=device) < lengths[:, None]).long()
        last, kept = self._hidden(ids, mask)
        for b, (prompt, completion) in enumerate(batch):
            start, end = len(prompt), len(prompt) + len(completion)
            logprobs, entropy = self.policy.head.score(
                last[b, start - 1 : end - 1], ids[b, start:end]
            )
            if logprobs.isnan().any():
                raise ModelError(
                    f"the model gives NaN for a sequence of {end} tokens; load it with dtype "
                    "float32, or check its weights"
                )
            states = tuple(h[b, start:end].to("cpu", self.dtype) for h in kept)
            yield _Scored(logprobs.cpu(), entropy.cpu(), states)

    def _hidden(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The last hidden state [B, L, D] and the layers to keep."""
        positions = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        known = self.policy.forward_arguments
        out: Any = self.policy.backbone(
            input_ids=ids,
            attention_mask=mask,
            use_cache=False,
            return_dict=True,
            # A list keeps these layers alone (older transformers take it as True and keep all).
            output_hidden_states=list(self.layers) or False,
            **({"position_ids": positions} if "position_ids" in known else {}),
        )
        states = out.hidden_states
        kept = [
            out.last_hidden_state if layer == self.policy.info.n_layers else states[layer]
            for layer in self.layers
        ]
        return out.last_hidden_state, kept


def _check(
    policy: Policy,
    prompts: Sequence[Sequence[int]],
    completions: Sequence[Sequence[int]],
    dtype: torch.dtype,
) -> None:
    if len(prompts) != len(completions):
        raise ShapeError(
            f"{len(prompts)} prompts do not fit {len(completions)} completions; give one prompt "
            "per completion"
        )
    if dtype == torch.float16:
        raise ShapeError("states in float16 can overflow; use bfloat16 or float32")
    for b, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
        if len(prompt) == 0:
            raise ShapeError(
                f"prompt {b} is empty, so its first completion token has no probability; "
                "pass the ids of the rendered prompt"
            )
        n_tokens, most = len(prompt) + len(completion), policy.max_positions
        if most is not None and n_tokens > most:
            raise ShapeError(
                f"sequence {b} has {n_tokens} tokens, and the model reads {most} at most; "
                "use a model with a longer context, or keep states of other groups alone (--states)"
            )


def _first_batch(todo: list[int], sequences: list[Any], limit: int) -> list[int]:
    """The longest sequences still to read, as many as `limit` tokens hold; at least one."""
    width = len(sequences[todo[0]][0]) + len(sequences[todo[0]][1])
    return todo[: max(1, limit // max(width, 1))]


def _smaller(
    batch: list[int], sequences: list[Any], policy: Policy, error: RuntimeError | MemoryError
) -> int:
    """Half the tokens of a batch that did not fit."""
    if not is_out_of_memory(error):
        raise error
    width = len(sequences[batch[0]][0]) + len(sequences[batch[0]][1])
    if len(batch) == 1:
        raise ModelError(
            f"memory ran out on {policy.device} with one sequence of {width} tokens; use a "
            "smaller dtype, shorter completions, or another device"
        ) from error
    release(policy.device, error)
    return width * (len(batch) // 2)


def _packed(scored: list[_Scored], pass_: _Pass, policy: Policy) -> TeacherForced:
    lengths = torch.tensor([0, *(len(s.logprobs) for s in scored)])
    offsets = lengths.cumsum(0)
    width = policy.info.hidden_size
    empty = torch.zeros(0, width, dtype=pass_.dtype)
    states = tuple(
        HiddenStates(
            states=torch.cat([empty, *(s.states[i] for s in scored)]),
            offsets=offsets,
            layer=layer,
            after_norm=layer == policy.info.n_layers,
        )
        for i, layer in enumerate(pass_.layers)
    )
    return TeacherForced([s.logprobs for s in scored], [s.entropy for s in scored], states)
