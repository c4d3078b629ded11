"""HarA in a TRL run: trains the demo's checkpoint and records what the optimizer got.

    python -m examples.train_trl --steps 20 --out runs/trl-demo
    hara-viz app runs

A step takes about three seconds of one core. Open the app meanwhile: its Training page follows the
run. Several processes: `torchrun --nproc-per-node 2 -m examples.train_trl …`.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig

from examples.demo.policy import MAX_NEW_TOKENS
from examples.demo.problems import training_problems
from examples.demo.rl import reward_of
from examples.train_demo import ASSETS, excluded_sums
from hara_viz.credit import CreditConfig
from hara_viz.integrations.trl import HaraGRPOTrainer, Recording

Messages = list[dict[str, str]]


def right_answer(completions: list[Messages], gold: list[int], **_: object) -> list[float]:
    """1 if the last boxed number is the gold answer."""
    texts = [messages[0]["content"] for messages in completions]
    return [reward_of(text, answer) for text, answer in zip(texts, gold, strict=True)]


def problem_set(n: int, seed: int) -> Dataset:
    """Problems in TRL's form; none of those that the demo is measured on."""
    drawn = itertools.islice(training_problems(seed, excluded_sums()), n)
    return Dataset.from_list(
        [{"prompt": [{"role": "user", "content": p.question}], "gold": p.gold} for p in drawn]
    )


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=str(ASSETS / "checkpoints" / "start" / "checkpoint-0"))
    parser.add_argument("--out", type=Path, default=Path("runs/trl-demo"), help="the record")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--loss", default="dapo", help="any loss_type of GRPOConfig")
    parser.add_argument("--level", default="token", choices=["token", "sequence"], help="of ratios")
    parser.add_argument("--strength", type=float, default=0.5, help="0 is plain GRPO")
    parser.add_argument("--states", default="all", choices=["all", "mixed", "none"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="more do not help so small a model")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    trainer = HaraGRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32),
        processing_class=AutoTokenizer.from_pretrained(options.model),
        reward_funcs=right_answer,
        train_dataset=problem_set(4 * options.steps, options.seed),
        args=GRPOConfig(
            output_dir=str(options.out.parent / f"{options.out.name}-checkpoints"),
            per_device_train_batch_size=32,
            num_generations=8,
            max_completion_length=MAX_NEW_TOKENS,
            max_steps=options.steps,
            learning_rate=3e-4,
            loss_type=options.loss,
            importance_sampling_level=options.level,
            seed=options.seed,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            bf16=False,
            use_cpu=not torch.cuda.is_available(),
        ),
        credit=CreditConfig(strength=options.strength),
        record=Recording(path=options.out, states=options.states),
    )
    trainer.train()
    if trainer.accelerator.is_main_process:
        print(f"recorded in {options.out}; look at it with: hara-viz app {options.out.parent}")


if __name__ == "__main__":
    main()
