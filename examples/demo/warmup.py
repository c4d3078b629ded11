"""Supervised warm-up on written solutions of which about half are right."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from examples.demo.problems import training_problems
from examples.demo.solutions import Noise, write_solution
from examples.demo.tokenizer import prompt_ids

IGNORED = -100
BATCH = 32
POOL = 16
"""Batches are cut from this many batches' worth of examples sorted by length, to pad little."""


def examples(
    tokenizer: PreTrainedTokenizerFast, excluded: set, n_examples: int, seed: int
) -> list[tuple[list[int], list[int]]]:
    """(prompt, completion) ids of written solutions."""
    rng = random.Random(seed)
    problems = training_problems(seed, excluded)
    pairs = []
    for _ in range(n_examples):
        problem = next(problems)
        text = write_solution(problem, rng, Noise()).text
        completion = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
        pairs.append((prompt_ids(tokenizer, problem.question), completion))
    return pairs


def drills(
    tokenizer: PreTrainedTokenizerFast, n_drills: int, seed: int
) -> list[tuple[list[int], list[int]]]:
    """Sums without a story and without slips, a dozen in a row: where reckoning is learnt."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(n_drills):
        text = "".join(f" {draw_sum(rng)}." for _ in range(12))
        pairs.append(([tokenizer.eos_token_id], tokenizer.encode(text, add_special_tokens=False)))
    return pairs


def draw_sum(rng: random.Random) -> str:
    """One sum of the size that the problems need."""
    op = rng.choice("++--*/")
    if op in "*/":
        a, b = rng.choice(((2, 30), (9, 12)))
        a, b = rng.sample((rng.randint(2, a), rng.randint(2, b)), 2)
        a, b, result = (a, b, a * b) if op == "*" else (a * b, b, a)
    else:
        a, b = rng.randint(1, 60), rng.randint(1, 60)
        a, b, result = (a, b, a + b) if op == "+" else (a + b, b, a)
    return f"{a} {op} {b} = {result}"


def collate(pairs: list[tuple[list[int], list[int]]], pad: int) -> tuple[Tensor, Tensor]:
    """Ids and labels [B, S]; the prompt and the padding are ignored."""
    width = max(len(prompt) + len(completion) for prompt, completion in pairs)
    ids = torch.full((len(pairs), width), pad)
    labels = torch.full((len(pairs), width), IGNORED)
    for row, (prompt, completion) in enumerate(pairs):
        end = len(prompt) + len(completion)
        ids[row, :end] = torch.tensor(prompt + completion)
        labels[row, len(prompt) : end] = torch.tensor(completion)
    return ids, labels


def batches(
    pairs: list[tuple[list[int], list[int]]], pad: int, rng: random.Random
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches of examples of like length, epoch after epoch."""
    while True:
        order = rng.sample(pairs, len(pairs))
        for i in range(0, len(order), BATCH * POOL):
            pool = sorted(order[i : i + BATCH * POOL], key=lambda pair: len(pair[0]) + len(pair[1]))
            cuts = [pool[j : j + BATCH] for j in range(0, len(pool), BATCH)]
            for cut in rng.sample(cuts, len(cuts)):
                yield collate(cut, pad)


def warm_up(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, excluded: set, *,
    n_steps: int, n_examples: int, lr: float, seed: int,
) -> Iterator[tuple[int, float]]:  # fmt: skip
    """Train in place; yields (step, loss) after each step."""
    pairs = examples(tokenizer, excluded, n_examples, seed) + drills(
        tokenizer, n_examples // 2, seed
    )
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=lr, betas=(0.9, 0.98), weight_decay=0.01, fused=True
    )
    stream = batches(pairs, tokenizer.pad_token_id, random.Random(seed))
    for step in range(1, n_steps + 1):
        scale = min(1.0, step / 50) * 0.5 * (1 + math.cos(math.pi * step / n_steps))
        for group in optimizer.param_groups:
            group["lr"] = lr * scale
        ids, labels = next(stream)
        # Padding stands on the right, where causal attention never looks back from.
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
        loss = F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORED)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield step, loss.item()
