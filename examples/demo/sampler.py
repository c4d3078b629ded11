"""Batched sampling with a key-value cache.

It computes the same Llama as `transformers` (a test compares the two) without its overhead a step,
which dominates for a model this small, and drops finished rows from the batch on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaForCausalLM

COMPACT_BELOW = 0.75
"""The batch is compacted when less than this share of its rows is unfinished."""


class Cache:
    """Keys and values of all layers, [n_layers, B, kv heads, S, head size] each."""

    def __init__(self, model: LlamaForCausalLM, n_rows: int, length: int) -> None:
        c = model.config
        shape = (c.num_hidden_layers, n_rows, c.num_key_value_heads, length, head_size(model))
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)

    def keep(self, rows: Tensor) -> None:
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]


def head_size(model: LlamaForCausalLM) -> int:
    return model.config.hidden_size // model.config.num_attention_heads


def rotary(model: LlamaForCausalLM, length: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the positions 0 … length − 1, [length, head size] each."""
    frequencies = model.model.rotary_emb.inv_freq.float()
    angles = torch.outer(torch.arange(length).float(), frequencies).repeat(1, 2)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def next_logits(
    model: LlamaForCausalLM, ids: Tensor, start: int, angles: tuple[Tensor, Tensor],
    visible: Tensor, cache: Cache,
) -> Tensor:  # fmt: skip
    """Read ids [B, n] at columns start … and return the logits after the last one, [B, V].

    Args:
        angles: cosines and sines [B, 1, n, head size] at the tokens' positions.
        visible: [B, 1, n, start + n] bool, what each token may look at.
    """
    n_rows, n = ids.shape
    size, end = head_size(model), start + n
    x = model.model.embed_tokens(ids)
    for i, layer in enumerate(model.model.layers):
        attention, y = layer.self_attn, layer.input_layernorm(x)
        queries, keys, values = (
            project(y).view(n_rows, n, -1, size).transpose(1, 2)
            for project in (attention.q_proj, attention.k_proj, attention.v_proj)
        )
        cache.keys[i][:, :, start:end] = rotate(keys, *angles)
        cache.values[i][:, :, start:end] = values
        mixed = F.scaled_dot_product_attention(
            rotate(queries, *angles), cache.keys[i][:, :, :end], cache.values[i][:, :, :end],
            attn_mask=visible, enable_gqa=True,
        )  # fmt: skip
        x = x + attention.o_proj(mixed.transpose(1, 2).reshape(n_rows, n, -1))
        x = x + layer.mlp(layer.post_attention_layernorm(x))
    return model.lm_head(model.model.norm(x[:, -1]))


@torch.inference_mode()
def sample(
    model: LlamaForCausalLM, prompts: Sequence[list[int]], max_new_tokens: int,
    generator: torch.Generator, temperature: float = 1.0,
) -> list[list[int]]:  # fmt: skip
    """One completion for each prompt, with the end token if it came."""
    width = max(len(prompt) for prompt in prompts)
    padding = torch.tensor([width - len(prompt) for prompt in prompts])
    ids = torch.tensor([[0] * (width - len(prompt)) + prompt for prompt in prompts])
    columns = torch.arange(width + max_new_tokens)
    cos, sin = rotary(model, width + max_new_tokens)
    cache = Cache(model, len(prompts), width + max_new_tokens)
    completions: list[list[int]] = [[] for _ in prompts]
    rows, unfinished, start = torch.arange(len(prompts)), torch.ones(len(prompts)).bool(), 0
    for _ in range(max_new_tokens):
        n = ids.shape[1]
        asked = columns[start : start + n]
        positions = (asked[None] - padding[:, None]).clamp(min=0)  # [B, n]
        seen = columns[: start + n]
        visible = (seen >= padding[:, None])[:, None] & (seen <= asked[:, None])
        # A padding column looks at itself: a row of the mask without any True gives NaN.
        visible = visible | (seen == asked[:, None])
        angles = cos[positions][:, None], sin[positions][:, None]
        logits = next_logits(model, ids, start, angles, visible[:, None], cache)
        probabilities = (logits / temperature).softmax(dim=-1)
        drawn = torch.multinomial(probabilities, 1, generator=generator)
        for row, token, active in zip(
            rows.tolist(), drawn[:, 0].tolist(), unfinished.tolist(), strict=True
        ):
            if active:
                completions[row].append(token)
        unfinished = unfinished & (drawn[:, 0] != model.config.eos_token_id)
        ids, start = drawn, start + n
        n_unfinished = int(unfinished.sum())
        if n_unfinished == 0:
            break
        if n_unfinished < COMPACT_BELOW * len(rows):
            kept = unfinished.nonzero()[:, 0]
            cache.keep(kept)
            rows, padding, ids, unfinished = rows[kept], padding[kept], ids[kept], unfinished[kept]
    return completions
