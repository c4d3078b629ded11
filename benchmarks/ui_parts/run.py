"""A run of one group, long enough to hurt: words of a 6,000-word vocabulary, drawn with a seed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import torch

from hara_viz import open_run
from hara_viz.backend.credit import credit_group
from hara_viz.components.token_heatmap import encode, frame_of
from hara_viz.credit import CreditConfig
from hara_viz.store import RunWriter
from hara_viz.text import reasoning_steps
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

VOCABULARY, WIDTH, LAYER = 6000, 8, 2
CONFIG = CreditConfig(tolerance=0.3, max_iterations=2, n_support=32)
"""The page's speed does not hang on how well the credit is solved, the wait for it does."""


PROBLEM = "0123456789abcdef"


def link_of(address: str) -> str:
    """Where the app shows the group."""
    credit = f"credit.n_support={CONFIG.n_support}&credit.tolerance={CONFIG.tolerance}"
    return (
        f"{address}/?run=long&problem={PROBLEM}&{credit}"
        f"&credit.max_iterations={CONFIG.max_iterations}"
    )


def make_run(path: Path, n_rollouts: int, n_tokens: int) -> int:
    """Write the run; returns the bytes of the heatmap's base frame."""
    group = RolloutGroup(tuple(rollouts(n_rollouts, n_tokens)))
    generator = torch.Generator().manual_seed(0)
    states = HiddenStates(
        states=torch.randn(n_rollouts * n_tokens, WIDTH, generator=generator),
        offsets=torch.arange(n_rollouts + 1) * n_tokens,
        layer=LAYER,
        after_norm=True,
    )
    info = RunInfo(
        checkpoint=CheckpointInfo(path="models/none", n_layers=LAYER, hidden_size=WIDTH),
        problem_set="long.jsonl",
        sampling=SamplingConfig(group_size=n_rollouts, max_new_tokens=n_tokens),
        reward="number",
        created="2026-01-01T00:00:00+00:00",
    )
    with RunWriter(path, info) as writer:
        writer.write_part([group], [states])
        writer.finish()
    run = open_run(path)
    found = credit_group(run, run.keys()[0], CONFIG)
    return len(encode(frame_of(found.group, found.credit)))


def rollouts(n_rollouts: int, n_tokens: int) -> Iterator[Rollout]:
    """Half of them right; sentences of about twelve words, paragraphs of about ten sentences."""
    rng = np.random.default_rng(0)
    letters = list("etaoinshrdlu")
    words = [" " + "".join(rng.choice(letters, 1 + i % 7)) for i in range(VOCABULARY)]
    words[0], words[1] = ".", ".\n\n"
    shares = 1 / np.arange(1, VOCABULARY + 1)
    for sample in range(n_rollouts):
        ids = rng.choice(VOCABULARY, n_tokens, p=shares / shares.sum())
        pieces = [words[i] for i in ids]
        text = "".join(pieces)
        starts = [0, *accumulate(map(len, pieces))][:-1]
        yield Rollout(
            problem_id=PROBLEM,
            sample=sample,
            prompt_messages=(Message("user", "Think for long."),),
            prompt_text="Think for long.",
            gold="42",
            completion_text=text,
            completion_ids=tuple(ids.tolist()),
            cell_start=tuple(starts),
            reasoning_step=reasoning_steps(text, starts),
            logprobs=tuple((-rng.gamma(0.6, 0.5, n_tokens)).tolist()),
            logprobs_kind="raw",
            entropy=tuple(rng.gamma(1.0, 0.4, n_tokens).tolist()),
            reward=float(sample % 2),
            reward_reason="match" if sample % 2 else "mismatch",
            finish=Finish.LENGTH,
        )


def peer_lines(run: Path) -> Iterator[str]:
    """The same rollouts as RLLoggingBoard reads them, one JSON line each."""
    opened = open_run(run)
    for rollout in opened.load_group(opened.keys()[0]).rollouts:
        starts = [*(rollout.cell_start or ()), len(rollout.completion_text)]
        tokens = [rollout.completion_text[a:b] for a, b in pairwise(starts)]
        logprobs = list(rollout.logprobs or ())
        yield json.dumps(
            {
                "prompt": rollout.prompt_text,
                "response": rollout.completion_text,
                "response_tokens": tokens,
                "logprobs": logprobs,
                "ref_logprobs": [p - 0.1 for p in logprobs],
                "values": logprobs,
                "token_rewards": logprobs,
                "reward": rollout.reward,
                "ref_reward": 0.1 * rollout.sample,
                "valid_reward": rollout.reward,
                "ref_response": "none",
                "step": 1,
            }
        )
