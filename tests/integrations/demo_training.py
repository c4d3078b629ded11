"""A real training, small enough for a test: the demo's checkpoint and problems in TRL."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig

from hara_viz.integrations.trl import HaraGRPOTrainer

DEMO = Path(__file__).parents[2] / "assets" / "demo"
CHECKPOINT = DEMO / "checkpoints" / "grpo" / "checkpoint-50"
BOXED = re.compile(r"\\boxed\{(\d+)\}")


def right_answer(completions: Any, gold: list[str], **_: Any) -> list[float]:
    """1 if the last boxed number is the gold answer."""
    texts = [completion[0]["content"] for completion in completions]
    found = [BOXED.findall(text) for text in texts]
    return [float(bool(f) and f[-1] == g) for f, g in zip(found, gold, strict=True)]


def shortness(completion_ids: list[list[int]], **_: Any) -> list[float]:
    """A second reward, on another scale."""
    return [-len(ids) / 100 for ids in completion_ids]


def problems(n: int = 16) -> Dataset:
    """The first problems of the demo."""
    rows = map(json.loads, (DEMO / "problems.jsonl").read_text(encoding="utf-8").splitlines())
    return Dataset.from_list(
        [
            {
                "prompt": [{"role": "user", "content": row["question"]}],
                "gold": row["answer"].rsplit("#### ", 1)[1],
                "id": row["id"],
            }
            for _, row in zip(range(n), rows, strict=False)
        ]
    )


def config(out: Path, **changes: Any) -> GRPOConfig:
    """Two groups of four a step, on the CPU."""
    settings: dict[str, Any] = {
        "output_dir": str(out),
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 70,
        "max_steps": 1,
        "logging_steps": 1,
        "learning_rate": 1e-4,
        "report_to": [],
        "use_cpu": True,
        "bf16": False,
        "save_strategy": "no",
        "disable_tqdm": True,
    }
    return GRPOConfig(**{**settings, **changes})


def demo_trainer(
    out: Path,
    *,
    trainer: type = HaraGRPOTrainer,
    reward_funcs: Any = right_answer,
    settings: dict[str, Any] | None = None,
    eval_dataset: Dataset | None = None,
    **hara: Any,
) -> Any:
    """A trainer of a demo checkpoint; `settings` change the config, `hara` goes to the trainer."""
    return trainer(
        model=AutoModelForCausalLM.from_pretrained(CHECKPOINT, dtype=torch.float32),
        processing_class=AutoTokenizer.from_pretrained(CHECKPOINT),
        reward_funcs=reward_funcs,
        args=config(out, **(settings or {})),
        train_dataset=problems(),
        eval_dataset=eval_dataset,
        **hara,
    )
