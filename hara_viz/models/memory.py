"""How much fits on the device, and what to do when it did not."""

from __future__ import annotations

import gc
import traceback
from pathlib import Path

import torch

from hara_viz.models.policy import Policy

MAX_ROWS = {"cuda": 512}
MEMINFO = Path("/proc/meminfo")
DEFAULT_MAX_ROWS = 64
"""On a CPU more rows gain nothing: the arithmetic, not the reading of weights, is the limit."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` says that memory ran out; the CPU and MPS allocators have no type for it."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    text = str(error)
    return isinstance(error, RuntimeError) and (
        "can't allocate memory" in text or "out of memory" in text
    )


def release(device: torch.device, error: BaseException) -> None:
    """Give memory back to the device before a smaller attempt.

    The frames of the pass that failed hold its tensors for as long as `error` is being handled.
    """
    traceback.clear_frames(error.__traceback__)
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()


def default_rows(policy: Policy, longest: int) -> int:
    """Rollouts in flight that should fit, if none holds more than `longest` tokens.

    80 % of the free memory, over keys and values of a row and its logits (six float32 copies while
    a token is picked). It is a guess; sampling shrinks when it was too high.
    """
    most = MAX_ROWS.get(policy.device.type, DEFAULT_MAX_ROWS)
    free = free_bytes(policy.device)
    if free is None:
        return most
    config = policy.text_config
    all_heads = getattr(config, "num_attention_heads", None) or 1
    heads = getattr(config, "num_key_value_heads", None) or all_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // all_heads
    bytes_per_token = 2 * config.num_hidden_layers * heads * width * policy.model.dtype.itemsize
    # Twice: growing a cache by concatenation holds the old and the new one.
    row = 2 * longest * bytes_per_token + 6 * 4 * config.vocab_size
    return max(1, min(most, int(0.8 * free) // row))


def free_bytes(device: torch.device) -> int | None:
    """Memory that can still be taken on the device; None where nothing tells."""
    if device.type == "cuda":
        held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + held
    if device.type == "cpu" and MEMINFO.exists():
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in lines else None
    return None
