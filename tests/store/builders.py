"""Runs and groups for the tests of the store: small, seeded, with something in every column."""

from __future__ import annotations

from typing import Any

import torch

from hara_viz.types import (
    CheckpointInfo,
    Finish,
    HiddenStates,
    Message,
    Rollout,
    RolloutGroup,
    RunInfo,
    SamplingConfig,
)

D = 6


def make_info(**changes: Any) -> RunInfo:
    values: dict[str, Any] = {
        "checkpoint": CheckpointInfo(path="m", fingerprint="f" * 64, n_layers=3, hidden_size=D),
        "sampling": SamplingConfig(group_size=3, stop=("\n\n",), few_shot=(Message("user", "q"),)),
        "reward": "math",
        "problem_set": "set.jsonl",
        "created": "2026-01-01T00:00:00+00:00",
    }
    return RunInfo(**{**values, **changes})


def make_rollout(
    problem: int = 0, sample: int = 0, *, n_tokens: int = 4, **changes: Any
) -> Rollout:
    values: dict[str, Any] = {
        "problem_id": f"{problem:016x}",
        "sample": sample,
        "prompt_messages": (Message("user", f"What is {problem} + 1?"),),
        "prompt_text": f"<user>What is {problem} + 1?",
        "prompt_ids": (1, 2, 3),
        "gold": str(problem + 1),
        "completion_text": "x" * n_tokens,
        "completion_ids": tuple(range(n_tokens)),
        "cell_start": tuple(range(n_tokens)),
        "logprobs": tuple(-0.5 * t for t in range(n_tokens)),
        "logprobs_kind": "raw",
        "reward": float(sample % 2),
        "reward_parts": {"math": float(sample % 2)},
        "finish": Finish.STOP,
    }
    return Rollout(**{**values, **changes})


def make_group(problem: int = 0, size: int = 3, **changes: Any) -> RolloutGroup:
    """Rollout s has 3 + s tokens and reward s mod 2."""
    rollouts = (make_rollout(problem, s, **{"n_tokens": 3 + s, **changes}) for s in range(size))
    return RolloutGroup(tuple(rollouts))


def make_states(groups: list[RolloutGroup], layer: int = 3, seed: int = 0) -> HiddenStates:
    """Random states, exactly representable in bf16, one per token."""
    counts = [len(r.completion_ids) for group in groups for r in group.rollouts]
    offsets = torch.tensor([0, *counts]).cumsum(0)
    generator = torch.Generator().manual_seed(seed + layer)
    states = torch.randn(sum(counts), D, generator=generator).bfloat16().float()
    return HiddenStates(states=states, offsets=offsets, layer=layer, after_norm=True)
