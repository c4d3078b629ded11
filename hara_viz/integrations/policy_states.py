"""Hidden states of completions under the policy that is being trained: one pass, no gradient.

The pass goes through the trainer's wrapped model, so it works where the weights are sharded.
Rows are padded on the right: positions are then right for every architecture, and a causal model
never sees the padding.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

from hara_viz.errors import InvalidInputError, ModelError


def resolve_layers(layers: Sequence[int], n_layers: int) -> tuple[int, ...]:
    """Non-negative layers in rising order; −1 is the last, after the final norm.

    Raises:
        InvalidInputError: no layer, or one that the model does not have.
    """
    for layer in layers:
        if not -(n_layers + 1) <= layer <= n_layers:
            raise InvalidInputError(
                f"layer {layer} does not exist: the model has hidden states 0 (embeddings) to "
                f"{n_layers}; choose one of them, or -1 for the last"
            )
    if not layers:
        raise InvalidInputError("no layer was chosen; give at least one, such as -1 for the last")
    return tuple(sorted({layer % (n_layers + 1) for layer in layers}))


@torch.no_grad()
def completion_states(
    model: Any,
    prompts: Sequence[Sequence[int]],
    completions: Sequence[Sequence[int]],
    layers: Sequence[int],
    *,
    rows_at_a_time: int,
    dtype: torch.dtype,
    device: torch.device,
    autocast: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> list[list[Tensor]]:
    """States after reading each completion token: per layer, one [T_r, D] per row.

    Args:
        model: the model as the trainer wrapped it.
        prompts: ids of each prompt, without padding.
        completions: ids of each completion, without padding.
        layers: non-negative.
        rows_at_a_time: rows of one pass; all processes must take the same number of passes.
        dtype: of the states handed out.
        device: where the model reads.
        autocast: enters the trainer's mixed precision.

    Raises:
        ModelError: the model does not return hidden states.
    """
    found: list[list[Tensor]] = [[] for _ in layers]
    arguments = _known_arguments(model, layers)
    was_training = model.training
    model.eval()  # dropout would make states that nobody can compute again
    try:
        for start in range(0, len(prompts), rows_at_a_time):
            batch = slice(start, start + rows_at_a_time)
            ids, mask = _padded(prompts[batch], completions[batch], device)
            with autocast():
                out = model(input_ids=ids, attention_mask=mask, **arguments)
            _keep(out, found, layers, prompts[batch], completions[batch], dtype)
    finally:
        model.train(was_training)
    return found


def _padded(
    prompts: Sequence[Sequence[int]], completions: Sequence[Sequence[int]], device: torch.device
) -> tuple[Tensor, Tensor]:
    rows = [[*p, *c] for p, c in zip(prompts, completions, strict=True)]
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], device=device)
    lengths = torch.tensor([len(row) for row in rows], device=device)
    return ids, (torch.arange(width, device=device) < lengths[:, None]).long()


def _known_arguments(model: Any, layers: Sequence[int]) -> dict[str, Any]:
    """What the model is asked for; logits of one place only, where it can be told so."""
    inner = model.module if hasattr(model, "module") else model
    if hasattr(inner, "get_base_model"):  # an adapter hides the signature of its base
        inner = inner.get_base_model()
    known = inspect.signature(type(inner).forward).parameters  # the instance's may be wrapped
    arguments: dict[str, Any] = {"use_cache": False, "output_hidden_states": list(layers)}
    if "logits_to_keep" in known:
        arguments["logits_to_keep"] = 1
    return arguments


def _keep(
    out: Any,
    found: list[list[Tensor]],
    layers: Sequence[int],
    prompts: Sequence[Sequence[int]],
    completions: Sequence[Sequence[int]],
    dtype: torch.dtype,
) -> None:
    for kept, layer in zip(found, layers, strict=True):
        states = None if out.hidden_states is None else out.hidden_states[layer]
        if states is None:
            raise ModelError(
                f"the model returns no hidden states of layer {layer}, which HarA reads; use a "
                "causal language model of transformers, or a signal that needs none"
            )
        for row, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
            kept.append(states[row, len(prompt) : len(prompt) + len(completion)].to(dtype))
