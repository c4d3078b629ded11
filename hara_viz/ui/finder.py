"""What the start form offers: checkpoints and problem sets below the allowed folders. Pure.

Looks at names only, to a bounded depth and number of folders, and follows no links. What a folder
really is, the loader says when the run starts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from hara_viz.ui.roots import Roots

_MAX_DEPTH, _MAX_FOLDERS, _MAX_FOUND = 5, 4000, 300
_WEIGHTS = (".safetensors", ".bin", ".safetensors.index.json")
_TABLES = (".jsonl", ".json", ".csv", ".parquet")
_DUMP = re.compile(
    r"completions_\d+\.parquet|\d+\.jsonl|traces\.jsonl|(?:train|val)_data_step\d+\.jsonl"
    r"|(?:train|eval)_rollouts\.jsonl|.+_rollouts_\d+\.jsonl|rollout_dump_data\.step_\d+\.jsonl"
)
# Folders of runs and programs hold tables and weights that are neither.
_PASSED_OVER = {"node_modules", "site-packages", "rollouts", "states", "rewards", "credit", "jobs"}
_NOT_PROBLEMS = {
    "run.json", "config.json", "tokenizer.json", "tokenizer_config.json", "package.json",
    "generation_config.json", "special_tokens_map.json", "vocab.json", "added_tokens.json",
    "groups.parquet", "job.json", "events.jsonl", "annotations.jsonl", "log.jsonl",
    "trainer_state.json", "import.json",
}  # fmt: skip


def find_checkpoints(roots: Roots) -> tuple[Path, ...]:
    """Folders with a model's config and weights, adapters, and GGUF files; by path."""
    found: list[Path] = []
    for folder, names in _walk(roots):
        has_config = {"config.json", "adapter_config.json"} & set(names)
        if has_config and any(name.endswith(_WEIGHTS) for name in names):
            found.append(folder)
        found += [folder / name for name in names if name.endswith(".gguf")]
    return tuple(sorted(set(found))[:_MAX_FOUND])


def find_problem_sets(roots: Roots) -> tuple[Path, ...]:
    """Tables that may hold problems; by path."""
    found: list[Path] = []
    for folder, names in _walk(roots):
        if {"run.json", "config.json", "adapter_config.json"} & set(names):
            continue
        tables = (n for n in names if n.endswith(_TABLES) and n not in _NOT_PROBLEMS)
        found += [folder / name for name in tables]
    return tuple(sorted(set(found))[:_MAX_FOUND])


def find_dumps(roots: Roots) -> tuple[Path, ...]:
    """Folders whose files are named as trainers name their rollout dumps; by path."""
    found = [
        folder for folder, names in _walk(roots) if any(_DUMP.fullmatch(name) for name in names)
    ]
    return tuple(sorted(set(found))[:_MAX_FOUND])


def short_name(path: Path, roots: Roots) -> str:
    """A path as it is shown: relative to the allowed folder that holds it."""
    for root in roots.allowed:
        if path != root and path.is_relative_to(root):
            return str(path.relative_to(root))
    return str(path)


def _walk(roots: Roots) -> Iterator[tuple[Path, list[str]]]:
    seen = 0
    for root in roots.allowed:
        for place, folders, names in os.walk(root):
            seen += 1
            if seen > _MAX_FOLDERS:
                return
            depth = len(Path(place).relative_to(root).parts)
            folders[:] = sorted(
                name
                for name in folders
                if depth < _MAX_DEPTH and not name.startswith(".") and name not in _PASSED_OVER
            )
            yield Path(place), names
