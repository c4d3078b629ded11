from __future__ import annotations

from pathlib import Path

from hara_viz.ui.finder import find_checkpoints, find_problem_sets, short_name
from hara_viz.ui.roots import Roots


def make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")


def test_checkpoints_and_problem_sets_are_told_apart(tmp_path: Path) -> None:
    for name in (
        "models/a/config.json", "models/a/model.safetensors", "models/a/tokenizer.json",
        "models/half/config.json",
        "models/b.gguf",
        "models/adapter/adapter_config.json", "models/adapter/adapter_model.safetensors",
        "data/train.jsonl", "data/notes.txt",
        "runs/r/run.json", "runs/r/rollouts/part-00000.parquet", "runs/r/groups.parquet",
        ".hidden/c/config.json", ".hidden/c/model.safetensors",
    ):  # fmt: skip
        make(tmp_path / name)
    (tmp_path / "loop").symlink_to(tmp_path)
    roots = Roots(tmp_path, (tmp_path,))
    assert [short_name(p, roots) for p in find_checkpoints(roots)] == [
        "models/a", "models/adapter", "models/b.gguf",
    ]  # fmt: skip
    assert [short_name(p, roots) for p in find_problem_sets(roots)] == ["data/train.jsonl"]
