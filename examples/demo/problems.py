"""Draws problems, and writes and reads the problem sets (one JSON object a line)."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from examples.demo.kinds import KINDS, NAMES, PLACES, THINGS, VEHICLES, Kind
from examples.demo.ways import Numbers

KIND_BY_NAME = {kind.name: kind for kind in KINDS}
OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
}


class Exact:
    """A scratch that computes without slips and writes nothing."""

    def step(self, label: str, sentence: str, a: int, op: str, b: int) -> int:
        """The exact result."""
        return OPERATIONS[op](a, b)


@dataclass(frozen=True)
class DemoProblem:
    """One word problem with its numbers and words, from which all else follows."""

    kind: Kind
    numbers: Numbers
    words: dict[str, str]
    phrasing: int

    @property
    def question(self) -> str:
        return self.kind.questions[self.phrasing].format(*self.numbers, **self.words)

    @property
    def gold(self) -> int:
        return self.kind.ways[0](self.numbers, Exact())

    @property
    def signature(self) -> tuple[str, Numbers]:
        """What makes two problems the same sum, whoever buys the pens."""
        return self.kind.name, self.numbers


def draw_problem(rng: random.Random, kind: Kind | None = None) -> DemoProblem:
    """A random problem, of a random kind if none is given."""
    kind = kind or rng.choice(KINDS)
    name, other = rng.sample(NAMES, 2)
    words = {
        "name": name,
        "other": other,
        "thing": rng.choice(THINGS),
        "place": rng.choice(PLACES),
        "vehicle": rng.choice(VEHICLES),
    }
    return DemoProblem(kind, kind.draw(rng), words, rng.randrange(len(kind.questions)))


def problem_set(seed: int, per_kind: int, taken: set[tuple[str, Numbers]]) -> list[DemoProblem]:
    """`per_kind` problems of each kind in turn, no sum twice; `taken` grows by them."""
    rng = random.Random(seed)
    problems: list[DemoProblem] = []
    while len(problems) < per_kind * len(KINDS):
        problem = draw_problem(rng, KINDS[len(problems) % len(KINDS)])
        if problem.signature not in taken:
            taken.add(problem.signature)
            problems.append(problem)
    return problems


def training_problems(seed: int, excluded: set[tuple[str, Numbers]]) -> Iterator[DemoProblem]:
    """An endless stream of problems, none of which is the same sum as an excluded one."""
    rng = random.Random(seed)
    while True:
        problem = draw_problem(rng)
        if problem.signature not in excluded:
            yield problem


def write_problems(path: Path, problems: Sequence[DemoProblem], solutions: Iterable[str]) -> None:
    """Write question/answer rows; the answer is a worked solution that ends in `#### gold`."""
    prefix = path.stem.replace("_", "-")
    with path.open("w", encoding="utf-8") as file:
        for i, (problem, solution) in enumerate(zip(problems, solutions, strict=True)):
            row = {
                "id": f"{prefix}-{i:03d}",
                "kind": problem.kind.name,
                "question": problem.question,
                "answer": f"{solution}\n#### {problem.gold}",
                "numbers": problem.numbers,
                "words": problem.words,
                "phrasing": problem.phrasing,
            }
            file.write(json.dumps(row) + "\n")


def read_problems(path: Path) -> list[DemoProblem]:
    """Inverse of `write_problems`: the problems, without their solutions."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        DemoProblem(KIND_BY_NAME[r["kind"]], tuple(r["numbers"]), r["words"], r["phrasing"])
        for r in rows
    ]
