"""The compare page on 20 checkpoints × 200 problems × 16 rollouts, opened from summaries.

    python -m benchmarks.compare [--checkpoints 20 --problems 200 --rollouts 16] [--json FILE]

The runs are made for the occasion: real runs on disk with short completions, since only summaries
are read. Each figure is one process that has just started, modules loaded and nothing cached, by
wall clock and by processor time. The claim: summaries, curves and figure are there within 3 s, and
so is the page (the app's script for it, sidebar included, as Streamlit's AppTest runs it).

summaries   run.json and groups.parquet of all runs -> tables by group
curves      -> problems, seven metrics with bootstrap bands, a paired test
figure      -> the small multiples as JSON
page        the whole page from a cold cache, in a process of its own
rerun       the page again, everything cached
reading     entropies and answers of all rollouts (in the app: beside the page, once)
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

TARGET_SECONDS = 3.0
WORDS = ("We", " add", " the", " parts", " and", " get", " ten", ".")


def make_runs(folder: Path, n_checkpoints: int, n_problems: int, n_rollouts: int) -> None:
    """A training of `n_checkpoints` steps that slowly learns."""
    from hara_viz.store import RunWriter
    from hara_viz.types import CheckpointInfo, RunInfo, Series

    generator = np.random.default_rng(0)
    difficulty = generator.normal(size=n_problems)
    for step in range(n_checkpoints):
        info = RunInfo(
            checkpoint=CheckpointInfo(path=f"checkpoint-{step}", fingerprint=f"{step:016d}"),
            series=Series(id="training"),
            global_step=10 * step,
            problem_set="generated.jsonl",
        )
        with RunWriter(folder / f"step-{10 * step:04d}", info) as writer:
            for start in range(0, n_problems, 50):
                numbers = range(start, min(start + 50, n_problems))
                groups = [
                    group(number, step, n_rollouts, difficulty[number], generator)
                    for number in numbers
                ]
                writer.write_part(groups, [])
            writer.finish()


def group(number: int, step: int, n_rollouts: int, hard: float, generator: np.random.Generator):
    """One group; its pass rate grows with the step."""
    from hara_viz.types import Finish, Message, Rollout, RolloutGroup

    chance = 1 / (1 + np.exp(hard - 0.1 * step))
    rollouts = []
    for sample in range(n_rollouts):
        n_tokens = int(generator.integers(4, 9))
        words = WORDS[:n_tokens]
        right = bool(generator.uniform() < chance)
        rollouts.append(
            Rollout(
                problem_id=f"{number:016x}",
                global_step=10 * step,
                sample=sample,
                prompt_messages=(Message("user", f"What is problem {number}?"),),
                prompt_text=f"What is problem {number}?",
                gold=str(number),
                completion_text="".join(words),
                completion_ids=tuple(range(n_tokens)),
                cell_start=tuple([0, *accumulate(map(len, words))][:-1]),
                reasoning_step=(0,) * n_tokens,
                entropy=tuple(generator.uniform(size=n_tokens).tolist()),
                reward=float(right),
                extracted_answer=str(number if right else number + int(generator.integers(1, 5))),
                finish=Finish.STOP,
            )
        )
    return RolloutGroup(tuple(rollouts))


def timed(action: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it gives, and its seconds by wall clock and by processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = action()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def measure_backend(folder: Path) -> dict[str, list[float]]:
    """Summaries, curves, figure and reading, in this process."""
    from hara_viz.analysis.learning_curves import METRICS, title_of
    from hara_viz.backend.compare import compare_checkpoints, compare_pair, outline, run_groups
    from hara_viz.backend.compare_read import read_answers
    from hara_viz.plots.learning_curves import learning_curves
    from hara_viz.store import open_run
    from hara_viz.ui.compare_curves import series_of

    paths = sorted(folder.iterdir())
    runs, *summaries = timed(lambda: [run_groups(open_run(path)) for path in paths])

    def curves() -> Any:
        checkpoints = outline(runs)
        compare_pair(checkpoints[0], checkpoints[-1])
        return compare_checkpoints(checkpoints)

    found, *curve_times = timed(curves)
    titles = {name: title_of(metric, found.k) for name, metric in METRICS.items()}
    drawn = {n: c for n, c in found.curves.items() if any(p.n for p in c.points)}
    _, *figure = timed(lambda: learning_curves(drawn, series_of(found), titles=titles).to_json())
    _, *reading = timed(lambda: [read_answers(open_run(path)) for path in paths])
    return {"summaries": summaries, "curves": curve_times, "figure": figure, "reading": reading}


def measure_page() -> dict[str, list[float]]:
    """The page in a process that has loaded the app's modules and read no run."""
    from streamlit.testing.v1 import AppTest

    import hara_viz.ui.compare_curves
    import hara_viz.ui.sidebar  # noqa: F401 (a server has them loaded)

    at = AppTest.from_file(str(Path(__file__).parents[1] / "app.py"), default_timeout=120)
    at.switch_page("pages/compare.py")
    _, *page = timed(at.run)
    assert not at.exception, at.exception
    assert [d for d in at.dataframe if "pass@1" in d.value], "the curves are not on the page"
    _, *rerun = timed(at.run)
    return {"page": page, "rerun": rerun}


def in_own_process(part: str, folder: Path) -> dict[str, list[float]]:
    """Measure one part in a process that has just started."""
    places = {"HARA_VIZ_RUNS": str(folder), "HARA_VIZ_ROOTS": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.compare", "--part", part, "--runs", str(folder)],
        env=os.environ | places | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--checkpoints", type=int, default=20)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--rollouts", type=int, default=16)
    parser.add_argument("--runs", type=Path, help="measure these runs instead of making some")
    parser.add_argument("--part", choices=("backend", "page"), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.part:
        measure = measure_page if options.part == "page" else lambda: measure_backend(options.runs)
        print(json.dumps(measure()))
        return
    with tempfile.TemporaryDirectory() as folder:
        runs = options.runs or Path(folder)
        if options.runs is None:
            make_runs(runs, options.checkpoints, options.problems, options.rollouts)
        figures = in_own_process("backend", runs) | in_own_process("page", runs)
    print(f"{'':12}{'wall s':>9}{'cpu s':>9}")
    for name, (wall, cpu) in figures.items():
        print(f"{name:12}{wall:9.2f}{cpu:9.2f}")
    print(f"target: page within {TARGET_SECONDS:g} s")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
