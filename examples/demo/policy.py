"""The demo's model: a small Llama, stored as any Hugging Face checkpoint is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from examples.demo.solutions import MAX_NUMBER

MAX_NEW_TOKENS = 160
EMBEDDING_STD = 0.08
"""Larger than usual: the table is also the output layer, and 0.02 makes all logits alike."""


def new_policy(tokenizer: PreTrainedTokenizerFast, seed: int) -> LlamaForCausalLM:
    """An untrained model."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=192,
        num_hidden_layers=5,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    place_numbers(model, tokenizer)
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        max_new_tokens=MAX_NEW_TOKENS,
        do_sample=True,
    )
    return model


@torch.no_grad()
def place_numbers(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    """Let the number tokens start on circles of several periods, in half of the dimensions.

    Adding then begins as a rotation, and the model learns to reckon in minutes, not hours.
    """
    table = model.get_input_embeddings().weight.normal_(std=EMBEDDING_STD)
    n_circles = table.shape[1] // 4
    periods = torch.logspace(0.35, 2.6, n_circles).round()  # 2 … 400
    for n in range(MAX_NUMBER + 1):
        angles = 2 * torch.pi * n / periods
        circles = torch.stack((angles.cos(), angles.sin()), dim=1).flatten()
        for token in (str(n), f" {n}"):
            row = table[tokenizer.convert_tokens_to_ids(token)]
            row[: 2 * n_circles] = circles * EMBEDDING_STD * 2**0.5


def save_checkpoint(
    path: Path, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, global_step: int
) -> None:
    """Write weights (bf16), tokenizer and `trainer_state.json`; complete or not at all."""
    partial = path.with_name(path.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    state = {name: tensor.to(torch.bfloat16) for name, tensor in model.state_dict().items()}
    copy = LlamaForCausalLM(model.config).to(torch.bfloat16)
    copy.load_state_dict(state)
    copy.generation_config = model.generation_config
    copy.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    state_file = partial / "trainer_state.json"
    state_file.write_text(json.dumps({"global_step": global_step}) + "\n", encoding="utf-8")
    shutil.rmtree(path, ignore_errors=True)
    partial.rename(path)


def load_checkpoint(path: Path) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """Load a checkpoint for training, in float32."""
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    return model, AutoTokenizer.from_pretrained(path)
