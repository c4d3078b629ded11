"""Makes all of `assets/demo`: problem sets, checkpoints of two training runs, ready runs.

    python -m examples.make_demo problems        the two problem sets (seconds)
    python -m examples.make_demo train           warm-up, GRPO, HarA-GRPO (half an hour)
    python -m examples.make_demo checkpoints     copy the trained checkpoints to the assets
    python -m examples.make_demo runs            sample every checkpoint on the held-out problems
    python -m examples.make_demo credit          keep the default credit of every run (seconds)
    python -m examples.make_demo all             all of this in turn

Every stage starts from what the one before left, so an interrupted making goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import subprocess
import sys
from pathlib import Path

from examples.demo.policy import MAX_NEW_TOKENS
from examples.demo.problems import problem_set, write_problems
from examples.demo.rl import METHODS
from examples.demo.solutions import right_solution
from hara_viz.backend.credit import credit_run
from hara_viz.backend.runs import open_run
from hara_viz.backend.sample import sample_run
from hara_viz.backend.sampling_job import SampleJob
from hara_viz.models.fingerprint import weights_fingerprint
from hara_viz.types import SamplingConfig, Series

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "assets" / "demo"
SETS = {"problems": (11, 13), "held_out": (12, 5)}
"""Name of a problem set -> its seed and the number of problems of each kind."""


def make_problems() -> None:
    """Write the problem sets; no sum occurs twice in all of them."""
    taken: set = set()
    for name, (seed, per_kind) in SETS.items():
        problems = problem_set(seed, per_kind, taken)
        rng = random.Random(seed)
        solutions = [right_solution(problem, rng) for problem in problems]
        write_problems(ASSETS / f"{name}.jsonl", problems, solutions)


def trained(work: Path, method: str) -> list[tuple[int, Path]]:
    """(global step, folder) of a method's checkpoints in order, the common start first."""
    folders = [work / "start" / "checkpoint-0", *(work / method).glob("checkpoint-*")]
    return sorted((int(f.name.removeprefix("checkpoint-")), f) for f in folders)


def make_training(work: Path) -> None:
    """Run the three trainings, each in a process of its own; finished ones are passed over."""
    for stage in ("warmup", *METHODS):
        if stage != "warmup" or not (work / "start" / "checkpoint-0").exists():
            command = [sys.executable, "-m", "examples.train_demo", stage, "--out", str(work)]
            subprocess.run(command, check=True)


def make_checkpoints(work: Path) -> None:
    """Copy the trained checkpoints and their logs to the assets; runs of older ones go."""
    shutil.rmtree(ASSETS / "runs", ignore_errors=True)
    for name in ("start", *METHODS):
        target = ASSETS / "checkpoints" / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(work / name, target, ignore=shutil.ignore_patterns("state.*"))


def make_runs() -> None:
    """Sample every shipped checkpoint on the held-out problems: two series from one start."""
    sampling = SamplingConfig(group_size=8, max_new_tokens=MAX_NEW_TOKENS)
    # Paths below the repository, so that the runs name no place of the machine that made them.
    with contextlib.chdir(ROOT):
        assets = ASSETS.relative_to(ROOT)
        start = assets / "checkpoints" / "start" / "checkpoint-0"
        base = weights_fingerprint([start / "model.safetensors"])
        for method in METHODS:
            for step, folder in trained(assets / "checkpoints", method):
                job = SampleJob(
                    model=str(folder),
                    problems=assets / "held_out.jsonl",
                    out=assets / "runs" / f"{method}-{step:03d}",
                    sampling=sampling,
                    reward="number",
                    dtype="float32",
                    credit=None,  # a stage of its own: the engine changes more often than they do
                    series=Series(id=f"demo-{method}", method=method, base_fingerprint=base),
                    global_step=step,
                )
                print(sample_run(job))
    clear_locks()


def make_credit() -> None:
    """Keep the default credit of every shipped run, so that lists and pages have it at once."""
    for path in sorted((ASSETS / "runs").iterdir()):
        shutil.rmtree(path / "credit", ignore_errors=True)
        run = open_run(path)
        print(path.name, credit_run(run))
    clear_locks()


def clear_locks() -> None:
    """Locks are of this machine, not of the runs."""
    for lock in (ASSETS / "runs").glob("**/.*lock"):
        lock.unlink()


def main() -> None:
    """Read the stage and make it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "stage", choices=["problems", "train", "checkpoints", "runs", "credit", "all"]
    )
    parser.add_argument("--work", type=Path, default=Path("artifacts/demo"))
    options = parser.parse_args()
    ASSETS.mkdir(parents=True, exist_ok=True)
    stages = {
        "problems": make_problems,
        "train": lambda: make_training(options.work),
        "checkpoints": lambda: make_checkpoints(options.work),
        "runs": make_runs,
        "credit": make_credit,
    }
    for name, make in stages.items():
        if options.stage in (name, "all"):
            make()


if __name__ == "__main__":
    main()
