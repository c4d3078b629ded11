"""Rows of a transformers cache: kept, joined and shifted, for each kind of layer.

Attention layers hold keys and values [B, H, L, d] along a token axis, left-padded; a sliding window
holds its last columns only. Recurrent layers (state-space models, linear attention, short
convolutions) hold states [B, ...] without a token axis, so padding does not concern them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

MOVABLE = {
    "DynamicLayer",
    "DynamicSlidingWindowLayer",
    "LinearAttentionLayer",
    "LinearAttentionAndFullAttentionLayer",
    "LinearAttentionAndSlidingWindowAttentionLayer",
}


def rows_can_move(config: Any) -> bool:
    """Whether every layer of this model's cache is of a kind known here."""
    from transformers import DynamicCache

    layers = DynamicCache(config=config).layers
    return bool(layers) and all(type(layer).__name__ in MOVABLE for layer in layers)


def has_attention(cache: Any) -> bool:
    """Whether some layer holds keys and values."""
    return any(hasattr(layer, "keys") for layer in cache.layers)


def is_filled(cache: Any) -> bool:
    """Whether the model has written to the cache at all."""
    return any(
        getattr(layer, "keys", None) is not None or _has_states(layer) for layer in cache.layers
    )


def select_rows(cache: Any, index: Tensor) -> None:
    """Keep the rows in `index`, in that order, repeats allowed."""
    for layer in cache.layers:
        if hasattr(layer, "keys"):
            layer.keys, layer.values = layer.keys[index], layer.values[index]
        _map_states(layer, lambda states, _: states[index], layer)


def append_rows(cache: Any, other: Any, width: int) -> None:
    """Set the rows of `other` under those of `cache`, both padded on the left to `width` tokens."""
    for mine, theirs in zip(cache.layers, other.layers, strict=True):
        if hasattr(mine, "keys"):
            columns = width
            if mine.is_sliding:
                columns = min(width, mine.sliding_window - 1)
                mine.cumulative_length = width
            mine.keys = _stacked(mine.keys, theirs.keys, columns)
            mine.values = _stacked(mine.values, theirs.values, columns)
        _map_states(mine, lambda upper, lower: torch.cat([upper, lower]), theirs)


def drop_columns(cache: Any, n: int) -> None:
    """Forget the `n` leftmost columns, which are padding in every row."""
    for layer in cache.layers:
        if not hasattr(layer, "keys"):
            continue
        excess = n
        if layer.is_sliding:
            layer.cumulative_length -= n
            excess = max(0, layer.keys.shape[2] - layer.cumulative_length)
        layer.keys, layer.values = layer.keys[:, :, excess:], layer.values[:, :, excess:]


def _stacked(upper: Tensor, lower: Tensor, columns: int) -> Tensor:
    """[B1, H, L1, d] over [B2, H, L2, d] -> [B1 + B2, H, columns, d], zeros on the left."""
    return torch.cat(
        [
            torch.nn.functional.pad(states, (0, 0, columns - states.shape[2], 0))
            for states in (upper, lower)
        ]
    )


def _has_states(layer: Any) -> bool:
    return any(getattr(layer, "has_previous_state", {}).values())


def _map_states(layer: Any, change: Callable[[Tensor, Tensor], Tensor], other: Any) -> None:
    """Replace each recurrent state of `layer` by `change(it, the same of other)`."""
    for name in ("conv_states", "recurrent_states"):
        states, theirs = getattr(layer, name, {}), getattr(other, name, {})
        for i, state in states.items():
            if state is not None:
                states[i] = change(state, theirs[i])
