"""Small dumps in the true layouts of other frameworks, written the way those write them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

QUESTION, OTHER = "What is 7*6?", "What is 2+3?"
RIGHT, WRONG = "It is \\boxed{42}.", "It is \\boxed{41}."


def chat(question: str, system: str | None = None) -> list[dict[str, Any]]:
    turns = [] if system is None else [{"role": "system", "content": system}]
    return [*turns, {"role": "user", "content": question}]


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": text}]


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_trl(folder: Path, step: int, rows: Sequence[Mapping[str, Any]]) -> Path:
    """`completions/completions_00012.parquet`, columns in TRL's order."""
    path = folder / "completions" / f"completions_{step:05d}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = {"step": [step] * len(rows), **{n: [row.get(n) for row in rows] for n in names}}
    pq.write_table(pa.table(table), path)
    return path


def trl_row(question: str, text: str, reward: float | None, advantage: float, **more: Any):
    return {
        "prompt": chat(question), "completion": said(text), "accuracy_reward": reward, **more,
        "advantage": advantage,
    }  # fmt: skip


def trl_group(question: str, rewards: Sequence[float], **more: Any) -> list[dict[str, Any]]:
    """A group with advantages as TRL computes them without scaling."""
    mean = sum(rewards) / len(rewards)
    return [
        trl_row(question, f"{RIGHT if r else WRONG} ({i})", float(r), r - mean, **more)
        for i, r in enumerate(rewards)
    ]
