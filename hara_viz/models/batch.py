"""A batch of sequences that grow by one token a step, whose rows may leave and join at any time.

Rows are padded on the left, with mask and positions given explicitly, so that all end in the same
column. A row that joins is read apart (equal prompts once) and its cache is set beside the others'.
Knows nothing of sampling: it turns token ids into logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from hara_viz.models.policy import Policy


class DecodeBatch:
    """Key-value cache, attention mask and next-token logits of the rows in flight."""

    def __init__(self, policy: Policy, *, track_seen: bool = False) -> None:
        self.policy = policy
        self.track_seen = track_seen
        self.movable = rows_can_move(policy)
        """False: all rows join together, and stay."""
        self.cache: Any = None
        self.mask = torch.zeros(0, 0, dtype=torch.long, device=policy.device)
        """[B, L]: 1 on real tokens, which are each row's last columns."""
        self.logits = torch.zeros(0, 0, device=policy.device)
        """[B, V] float32: of the token that follows each row."""
        self.seen = torch.zeros(0, 0, dtype=torch.bool, device=policy.device)
        """[B, V]: tokens that a row holds; kept only if `track_seen`."""

    def __len__(self) -> int:
        return self.mask.shape[0]

    @torch.inference_mode()
    def join(self, sequences: Sequence[tuple[int, ...]]) -> None:
        """Add a row for each sequence; equal sequences are read once."""
        distinct = list(dict.fromkeys(sequences)) if self.movable else sequences
        cache, mask, logits, seen = self._read(distinct)
        if len(distinct) < len(sequences):
            place = {ids: i for i, ids in enumerate(distinct)}
            index = torch.tensor([place[ids] for ids in sequences], device=self.policy.device)
            select_rows(cache, index)
            mask, logits, seen = mask[index], logits[index], seen[index]
        if len(self) == 0:
            self.cache, self.mask, self.logits, self.seen = cache, mask, logits, seen
            return
        width = max(self.mask.shape[1], mask.shape[1])
        append_rows(self.cache, cache, width)
        self.mask = torch.cat([_pad_columns(self.mask, width), _pad_columns(mask, width)])
        self.logits = torch.cat([self.logits, logits])
        self.seen = torch.cat([self.seen, seen])

    @torch.inference_mode()
    def keep(self, rows: Sequence[int]) -> None:
        """Drop all rows but these (at least one), and columns that then hold only padding."""
        index = torch.tensor(rows, device=self.policy.device)
        self.mask, self.logits, self.seen = self.mask[index], self.logits[index], self.seen[index]
        select_rows(self.cache, index)
        empty = self.mask.shape[1] - int(self.mask.sum(1).max())
        if empty > 0:
            self.mask = self.mask[:, empty:]
            drop_columns(self.cache, empty)

    @torch.inference_mode()
    def step(self, tokens: Tensor) -> None:
        """Append one token [B] to each row and compute the logits of the next."""
        self.mask = torch.cat([self.mask, self.mask.new_ones(len(self), 1)], dim=1)
        if self.track_seen:
            self.seen = self.seen.scatter(1, tokens[:, None], True)
        positions = self.mask.sum(1, keepdim=True) - 1
        self.logits = self._forward(tokens[:, None], self.mask, positions, self.cache)

    def _read(self, sequences: Sequence[tuple[int, ...]]) -> tuple[Any, Tensor, Tensor, Tensor]:
        """Read whole sequences into a cache of their own; returns cache, mask, logits, seen."""
        from transformers import DynamicCache

        device, width = self.policy.device, max(map(len, sequences))
        pad = self.policy.pad_id
        ids = torch.tensor([[pad] * (width - len(s)) + list(s) for s in sequences], device=device)
        lengths = torch.tensor([len(s) for s in sequences], device=device)
        mask = (torch.arange(width, device=device) >= width - lengths[:, None]).long()
        cache = DynamicCache(config=self.policy.model.config)
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        logits = self._forward(ids, mask, positions, cache)
        n_vocab = logits.shape[1] if self.track_seen else 0
        seen = torch.zeros(len(sequences), n_vocab, dtype=torch.bool, device=device)
        if self.track_seen:
            for row, sequence in enumerate(sequences):
                seen[row, torch.tensor(list(sequence), device=device)] = True
        return cache, mask, logits, seen

    def _forward(self, ids: Tensor, mask: Tensor, positions: Tensor, cache: Any) -> Tensor:
        """Logits [B, V] float32 of the last column."""
        known = self.policy.forward_arguments
        # `cache` is the name since transformers 5.20 or so, and the old one warns at each call.
        optional = {"position_ids": positions, "logits_to_keep": 1, "cache": cache}
        if "cache" not in known:
            optional["past_key_values"] = cache
        out = self.policy.model(
            input_ids=ids,
            attention_mask=mask,
            use_cache=True,
            return_dict=True,
            **{
                name: value
                for name, value in optional.items()
                if name in known or name == "past_key_values"
            },
        )
        return out.logits[:, -1].float()


def rows_can_move(policy: Policy) -> bool:
    """Whether rows of this model's cache can be dropped, joined and shifted.

    True for full and sliding-window attention. Recurrent layers (state-space models, hybrids) hold
    states without a token axis, and their padding is only masked while a prompt is read.
    """
    from transformers import DynamicCache

    layers = DynamicCache(config=policy.model.config).layers
    return bool(layers) and all(type(layer).__name__ in _MOVABLE for layer in layers)


_MOVABLE = {"DynamicLayer", "DynamicSlidingWindowLayer"}


def select_rows(cache: Any, index: Tensor) -> None:
    """Keep the rows in `index`, in that order, repeats allowed."""
    for layer in cache.layers:
        layer.keys, layer.values = layer.keys[index], layer.values[index]


def append_rows(cache: Any, other: Any, width: int) -> None:
    """Set the rows of `other` under those of `cache`, both padded on the left to `width` tokens."""
    for mine, theirs in zip(cache.layers, other.layers, strict=True):
        # A sliding window holds its last columns only, and counts all it has seen.
        columns = min(width, mine.sliding_window - 1) if mine.is_sliding else width
        mine.keys = torch.cat([_pad_tokens(mine.keys, columns), _pad_tokens(theirs.keys, columns)])
        mine.values = torch.cat(
            [_pad_tokens(mine.values, columns), _pad_tokens(theirs.values, columns)]
        )
        if mine.is_sliding:
            mine.cumulative_length = width


def drop_columns(cache: Any, n: int) -> None:
    """Forget the `n` leftmost columns, which are padding in every row."""
    for layer in cache.layers:
        held = layer.keys.shape[2]
        if layer.is_sliding:
            layer.cumulative_length -= n
            excess = max(0, held - layer.cumulative_length)
        else:
            excess = n
        layer.keys, layer.values = layer.keys[:, :, excess:], layer.values[:, :, excess:]


def _pad_tokens(states: Tensor, width: int) -> Tensor:
    """[B, H, L, d] -> [B, H, width, d], zeros on the left."""
    return torch.nn.functional.pad(states, (0, 0, width - states.shape[2], 0))


def _pad_columns(mask: Tensor, width: int) -> Tensor:
    return torch.nn.functional.pad(mask, (width - mask.shape[1], 0))
