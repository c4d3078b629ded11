"""How much fits on the device, and what to do when it did not."""

from __future__ import annotations

import gc

import torch

from hara_viz.models.policy import Policy

CPU_ROWS = 32
"""Beyond this a CPU gains nothing: the arithmetic, not the reading of weights, is the limit."""
MAX_ROWS = 512


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` says that memory ran out; the CPU and MPS allocators have no type for it."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and (
        "can't allocate memory" in text or "out of memory" in text
    )


def release(device: torch.device) -> None:
    """Give freed memory back to the device before a smaller attempt."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def default_rows(policy: Policy, longest: int) -> int:
    """Rollouts in flight that should fit, if none holds more than `longest` tokens.

    On CUDA: 80 % of the free memory, over keys and values of a row and its logits (six float32
    copies while a token is picked). It is a guess; sampling shrinks when it was too high.
    """
    if policy.device.type != "cuda":
        return CPU_ROWS
    free, _ = torch.cuda.mem_get_info(policy.device)
    free += torch.cuda.memory_reserved(policy.device) - torch.cuda.memory_allocated(policy.device)
    config = policy.text_config
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    bytes_per_token = 2 * config.num_hidden_layers * heads * width * policy.model.dtype.itemsize
    # Twice: growing a cache by concatenation holds the old and the new one.
    row = 2 * longest * bytes_per_token + 6 * 4 * config.vocab_size
    return max(1, min(MAX_ROWS, int(0.8 * free) // row))
