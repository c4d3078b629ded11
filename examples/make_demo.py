"""Makes all of `assets/demo`: problem sets, checkpoints of two training runs, ready runs.

    python -m examples.make_demo problems        the two problem sets (seconds)
    python -m examples.make_demo train           warm-up, GRPO, HarA-GRPO (half an hour)
    python -m examples.make_demo checkpoints     copy the trained checkpoints to the assets
    python -m examples.make_demo runs            sample every checkpoint on the held-out problems
    python -m examples.make_demo all             all of this in turn

Every stage starts from what the one before left, so an interrupted making goes on.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from examples.demo.problems import problem_set, write_problems
from examples.demo.solutions import right_solution

ASSETS = Path(__file__).parents[1] / "assets" / "demo"
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


def main() -> None:
    """Read the stage and make it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", choices=["problems"])
    parser.parse_args()
    ASSETS.mkdir(parents=True, exist_ok=True)
    make_problems()


if __name__ == "__main__":
    main()
