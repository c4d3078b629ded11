"""Supervised warm-up: first reckoning and reading, then solutions of which about half are right."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from examples.demo.problems import DemoProblem, training_problems
from examples.demo.solutions import CAREFUL, CLEAN, Noise, right_solution, write_solution
from examples.demo.tokenizer import prompt_ids

IGNORED = -100
BATCH = 32
SCHOOL = 0.7
"""The share of the steps in which nothing but right solutions and sums is shown."""
POOL = 16
"""Batches are cut from this many batches' worth of examples sorted by length, to pad little."""


class Example(NamedTuple):
    """A text to learn from."""

    ids: list[int]
    labels: list[int]
    """The ids that are to be learnt, `IGNORED` elsewhere."""


def written(
    tokenizer: PreTrainedTokenizerFast, excluded: set, n_examples: int, seed: int,
    write: Callable[[DemoProblem, random.Random], str],
) -> list[Example]:  # fmt: skip
    """Problems with a written solution each."""
    rng = random.Random(seed)
    problems = training_problems(seed, excluded)
    examples = []
    for problem in itertools.islice(problems, n_examples):
        prompt = prompt_ids(tokenizer, problem.question)
        text = write(problem, rng)
        completion = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
        examples.append(Example(prompt + completion, [IGNORED] * len(prompt) + completion))
    return examples


def taught(problem: DemoProblem, rng: random.Random) -> str:
    """A right solution; half of them with a wrong start that a check may save."""
    return right_solution(problem, rng, rng.choice((CLEAN, CAREFUL)))


def usual(problem: DemoProblem, rng: random.Random) -> str:
    """A solution with all its slips: about half of them are right."""
    return write_solution(problem, rng, Noise()).text


def drills(tokenizer: PreTrainedTokenizerFast, n_drills: int, seed: int) -> list[Example]:
    """Sums without a story and without slips, a dozen in a row: where reckoning is learnt."""
    rng = random.Random(seed)
    equals = tokenizer.convert_tokens_to_ids(" =")
    drilled = []
    for _ in range(n_drills):
        text = "".join(f" {draw_sum(rng)}." for _ in range(12))
        ids = tokenizer.encode(text, add_special_tokens=False)
        # Only results are learnt: which sum comes next is chance.
        labels = [
            i if before == equals else IGNORED
            for before, i in zip([-1, *ids[:-1]], ids, strict=True)
        ]
        drilled.append(Example(ids, labels))
    return drilled


def draw_sum(rng: random.Random) -> str:
    """One sum of the size that the problems need."""
    op = rng.choice("++--*/")
    if op in "*/":
        small, large = rng.choice(((2, 16), (7, 8)))
        a, b = rng.sample((rng.randint(2, small), rng.randint(2, large)), 2)
        a, b, result = (a, b, a * b) if op == "*" else (a * b, b, a)
    else:
        a, b = rng.randint(1, 40), rng.randint(1, 20)
        a, b = rng.sample((a, b), 2)
        a, b, result = (a, b, a + b) if op == "+" else (a + b, b, a)
    return f"{a} {op} {b} = {result}"


def collate(examples: list[Example], pad: int) -> tuple[Tensor, Tensor]:
    """Ids and labels [B, S], padded on the right."""
    width = max(len(example.ids) for example in examples)
    ids = torch.full((len(examples), width), pad)
    labels = torch.full((len(examples), width), IGNORED)
    for row, example in enumerate(examples):
        ids[row, : len(example.ids)] = torch.tensor(example.ids)
        labels[row, : len(example.ids)] = torch.tensor(example.labels)
    return ids, labels


def batches(examples: list[Example], pad: int, rng: random.Random) -> Iterator[tuple]:
    """Batches of examples of like length, epoch after epoch."""
    while True:
        order = rng.sample(examples, len(examples))
        for i in range(0, len(order), BATCH * POOL):
            pool = sorted(order[i : i + BATCH * POOL], key=lambda example: len(example.ids))
            cuts = [pool[j : j + BATCH] for j in range(0, len(pool), BATCH)]
            for cut in rng.sample(cuts, len(cuts)):
                yield collate(cut, pad)


def warmup_optimizers(model: LlamaForCausalLM) -> list[torch.optim.Optimizer]:
    """Muon for the matrices, AdamW for the rest.

    With AdamW alone the same sums took about six times as many steps to learn.
    """
    layers = [(name, p) for name, p in model.named_parameters() if "embed" not in name]
    matrices = [p for _, p in layers if p.ndim == 2]
    rest = [*model.get_input_embeddings().parameters(), *(p for _, p in layers if p.ndim < 2)]
    return [
        torch.optim.Muon(matrices, lr=0.02, weight_decay=0.0),
        torch.optim.AdamW(rest, lr=5e-3, betas=(0.9, 0.98), weight_decay=0.0),
    ]


def warm_up(
    model: LlamaForCausalLM, optimizers: Sequence[torch.optim.Optimizer],
    tokenizer: PreTrainedTokenizerFast, excluded: set, *,
    done: int, n_steps: int, n_examples: int, seed: int,
) -> Iterator[tuple[int, float]]:  # fmt: skip
    """Train in place from step `done` on; yields (step, loss) after each step.

    The first part teaches to reckon and to read: sums and right solutions. The rest teaches the
    habits, good and bad, that reinforcement learning then sorts: solutions of which about half are
    right. Told in this order, both are learnt in half the steps.
    """
    rng = random.Random(seed)
    pad = tokenizer.pad_token_id
    school = written(tokenizer, excluded, n_examples, seed, taught)
    school += drills(tokenizer, n_examples // 2, seed)
    habits = written(tokenizer, excluded, n_examples // 2, seed + 1, usual)
    n_school = round(SCHOOL * n_steps)
    stream = itertools.chain(
        itertools.islice(batches(school, pad, rng), n_school), batches(habits, pad, rng)
    )
    stream = itertools.islice(stream, done, n_steps)
    peaks = [optimizer.defaults["lr"] for optimizer in optimizers]
    for step in range(done + 1, n_steps + 1):
        scale = min(1.0, step / 20, (n_steps + 1 - step) / (n_steps - n_school))
        ids, labels = next(stream)
        # Padding stands on the right, where causal attention never looks back from.
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
        loss = F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORED)
        model.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, peak in zip(optimizers, peaks, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = peak * scale
            optimizer.step()
        yield step, loss.item()
