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

from hara_viz.errors import ModelError
from hara_viz.models.policy import Policy
from hara_viz.models.rows import (
    append_rows,
    drop_columns,
    has_attention,
    is_filled,
    rows_can_move,
    select_rows,
)


class DecodeBatch:
    """Key-value cache, attention mask and next-token logits of the rows in flight."""

    def __init__(
        self, policy: Policy, *, track_seen: bool = False, layers: Sequence[int] = ()
    ) -> None:
        self.policy = policy
        self.track_seen = track_seen
        self.layers = tuple(layers)
        """Non-negative layers whose states are kept of each token that `step` reads."""
        self.movable = rows_can_move(policy.model.config)
        """False: all rows join together, and stay."""
        self.cache: Any = None
        self.mask = torch.zeros(0, 0, dtype=torch.long, device=policy.device)
        """[B, L]: 1 on real tokens, which are each row's last columns."""
        self.logits = torch.zeros(0, 0, device=policy.device)
        """[B, V] float32: of the token that follows each row."""
        self.seen = torch.zeros(0, 0, dtype=torch.bool, device=policy.device)
        """[B, V]: tokens that a row holds; kept only if `track_seen`."""
        self.states: list[Tensor] = []
        """One [B, D] per layer: of the tokens that the last `step` read."""

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
        self.logits, hidden = self._forward(
            tokens[:, None], self.mask, positions, self.cache, keep_states=bool(self.layers)
        )
        self.states = [hidden[layer][:, -1] for layer in self.layers]

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
        logits, _ = self._forward(ids, mask, positions, cache)
        n_vocab = logits.shape[1] if self.track_seen else 0
        seen = torch.zeros(len(sequences), n_vocab, dtype=torch.bool, device=device)
        if self.track_seen:
            for row, sequence in enumerate(sequences):
                seen[row, torch.tensor(list(sequence), device=device)] = True
        return cache, mask, logits, seen

    def _forward(
        self,
        ids: Tensor,
        mask: Tensor,
        positions: Tensor,
        cache: Any,
        *,
        keep_states: bool = False,
    ) -> tuple[Tensor, Sequence[Tensor]]:
        """Logits [B, V] float32 of the last column, and the hidden states if they are kept.

        Raises:
            ModelError: The model does not write to the cache.
        """
        known = self.policy.forward_arguments
        # `cache` is the name since transformers 5.20 or so, and the old one warns at each call.
        optional = {"position_ids": positions, "logits_to_keep": 1, "cache": cache}
        if "cache" not in known:
            optional["past_key_values"] = cache
        out = self.policy.model(
            input_ids=ids,
            # A purely recurrent model has no past columns to mask once the prompt is read.
            attention_mask=mask if ids.shape[1] > 1 or has_attention(cache) else None,
            use_cache=True,
            return_dict=True,
            output_hidden_states=keep_states,
            **{
                name: value
                for name, value in optional.items()
                if name in known or name == "past_key_values"
            },
        )
        if not is_filled(cache):
            raise ModelError(
                f"{type(self.policy.model).__name__} keeps its past in a form that is not known "
                "here, so it cannot be sampled token by token; please report the model"
            )
        return out.logits[:, -1].float(), out.hidden_states or ()


def _pad_columns(mask: Tensor, width: int) -> Tensor:
    return torch.nn.functional.pad(mask, (width - mask.shape[1], 0))
