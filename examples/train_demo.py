"""Trains the demo's model: a warm-up, then GRPO or HarA-GRPO from the same start.

    python -m examples.train_demo warmup
    python -m examples.train_demo grpo
    python -m examples.train_demo hara

Each takes up to ten minutes on two idle cores and goes on where it was stopped. Checkpoints are
written below `--out` as `<method>/checkpoint-<global step>` in the Hugging Face layout, with the
figures of every training step beside them in `<method>/log.jsonl`.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
from pathlib import Path

import torch
from transformers import LlamaForCausalLM

from examples.demo.policy import load_checkpoint, new_policy, save_checkpoint
from examples.demo.problems import read_problems, training_problems
from examples.demo.rl import METHODS, train_step
from examples.demo.tokenizer import build_tokenizer
from examples.demo.warmup import warm_up, warmup_optimizers

ASSETS = Path(__file__).parents[1] / "assets" / "demo"
SAVE_EVERY = 20
Optimizers = list[torch.optim.Optimizer]


def excluded_sums() -> set:
    """The sums of the shipped problem sets, which training never sees."""
    sets = (read_problems(ASSETS / f"{name}.jsonl") for name in ("problems", "held_out"))
    return {problem.signature for problem in itertools.chain(*sets)}


def log_line(path: Path, row: dict) -> None:
    """Append one JSON line and show it."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)


def save_state(folder: Path, model: LlamaForCausalLM, optimizers: Optimizers, step: int) -> None:
    """What a stopped training needs to go on, written whole or not at all."""
    path, partial = folder / "state.pt", folder / "state.partial"
    states = [optimizer.state_dict() for optimizer in optimizers]
    torch.save({"step": step, "model": model.state_dict(), "optimizers": states}, partial)
    os.replace(partial, path)


def load_state(folder: Path, model: LlamaForCausalLM, optimizers: Optimizers) -> int:
    """Inverse of `save_state`; returns the steps done, 0 if nothing was saved.

    Lines of the log that are later than the state are cut: their steps will be taken again.
    """
    path, log = folder / "state.pt", folder / "log.jsonl"
    if not path.exists():
        log.unlink(missing_ok=True)
        return 0
    state = torch.load(path, weights_only=True)
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if json.loads(line)["step"] <= state["step"]]
    log.write_text("".join(kept), encoding="utf-8")
    model.load_state_dict(state["model"])
    for optimizer, saved in zip(optimizers, state["optimizers"], strict=True):
        optimizer.load_state_dict(saved)
    return state["step"]


def run_warmup(out: Path, options: argparse.Namespace) -> None:
    """Train from nothing, or from where the last run stopped; write `start/checkpoint-0`."""
    folder = out / "start"
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = build_tokenizer()
    model = new_policy(tokenizer, options.seed)
    optimizers = warmup_optimizers(model)
    steps = warm_up(
        model, optimizers, tokenizer, excluded_sums(),
        done=load_state(folder, model, optimizers),
        n_steps=options.warmup_steps, n_examples=options.warmup_examples, seed=options.seed,
    )  # fmt: skip
    for step, loss in steps:
        if step % SAVE_EVERY == 0 or step == options.warmup_steps:
            log_line(folder / "log.jsonl", {"step": step, "loss": round(loss, 4)})
            save_state(folder, model, optimizers, step)
    save_checkpoint(folder / "checkpoint-0", model, tokenizer, 0)


def run_rl(method: str, out: Path, options: argparse.Namespace) -> None:
    """Train by reinforcement from `start/checkpoint-0`, or from where the last run stopped."""
    folder = out / method
    folder.mkdir(parents=True, exist_ok=True)
    model, tokenizer = load_checkpoint(out / "start" / "checkpoint-0")
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=options.lr, betas=(0.9, 0.98), weight_decay=0.0
    )
    excluded = excluded_sums()
    done = load_state(folder, model, [optimizer])
    for step in range(done + 1, options.steps + 1):
        # Seeds hang on the step alone, so a run that was stopped draws what it would have drawn.
        seed = options.seed * 100_000 + step
        problems = list(itertools.islice(training_problems(seed, excluded), options.problems))
        generator = torch.Generator().manual_seed(seed)
        figures = train_step(
            model, tokenizer, optimizer, problems, method, options.group_size, generator
        )
        log_line(folder / "log.jsonl", {"step": step, **dataclasses.asdict(figures)})
        if step in options.checkpoints or step == options.steps:
            save_checkpoint(folder / f"checkpoint-{step}", model, tokenizer, step)
        if step % SAVE_EVERY == 0 or step == options.steps:
            save_state(folder, model, [optimizer], step)


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=["warmup", *METHODS])
    parser.add_argument("--out", type=Path, default=Path("artifacts/demo"))
    parser.add_argument("--warmup-steps", type=int, default=1300)
    parser.add_argument("--warmup-examples", type=int, default=8_000)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--checkpoints", type=int, nargs="*", default=[25, 50, 100, 150])
    parser.add_argument("--problems", type=int, default=16, help="problems a step")
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=3e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.stage == "warmup":
        run_warmup(options.out, options)
    else:
        run_rl(options.stage, options.out, options)


if __name__ == "__main__":
    main()
