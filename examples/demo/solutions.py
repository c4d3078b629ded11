"""Writes solutions in visible steps: right or with a slip, terse or wordy, checked or not.

The warm-up learns from these, so their noise is what reinforcement learning has to remove, and
their variety is what it may choose from: a check or a second way costs tokens and can save a wrong
start.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from examples.demo.kinds import Way
from examples.demo.problems import OPERATIONS, DemoProblem, Exact
from examples.demo.ways import Numbers

MAX_NUMBER = 60
"""The largest number with a token of its own."""


@dataclass(frozen=True)
class Noise:
    """How often things go wrong, and how often a solution is checked. All are probabilities."""

    slip: float = 0.17
    """A computation gives a wrong result."""
    slip_again: float = 0.05
    """The same in a check and after it, where one is careful."""
    wrong_way: float = 0.3
    """The problem is misunderstood."""
    miscopy: float = 0.12
    """A number of the question is written down wrongly and used so."""
    check: float = 0.3
    other_way: float = 0.1
    noticed: float = 0.85
    """A mismatch in a check is seen as one."""
    wordy: float = 0.5


CLEAN = Noise(slip=0, slip_again=0, wrong_way=0, miscopy=0)
CAREFUL = Noise(slip_again=0, noticed=1, check=0.7)
"""Wrong starts too, and a check that saves nearly all of them."""


class StuckError(Exception):
    """A slip led to a number that cannot be written: negative or too large."""


@dataclass
class Pad:
    """A scratch that writes each computation down and lets some of them slip."""

    rng: random.Random
    slip: float
    wordy: bool
    lines: list[str] = field(default_factory=list)

    def step(self, label: str, sentence: str, a: int, op: str, b: int) -> int:
        """Write `a op b = result` and return the result, right or slipped."""
        result = OPERATIONS[op](a, b)
        if self.rng.random() < self.slip:
            result += self.rng.choice((-10, -2, -1, 1, 2, 10))
        if not 0 <= result <= MAX_NUMBER:
            raise StuckError
        head = f"{sentence} " if self.wordy else f"{label}: "
        self.lines.append(f"{head}{a} {op} {b} = {result}.")
        return result

    def say(self, sentence: str) -> None:
        """Write a sentence as it is."""
        self.lines.append(sentence)


@dataclass(frozen=True)
class Solution:
    """A written solution and the answer it comes to."""

    text: str
    answer: int


def write_solution(problem: DemoProblem, rng: random.Random, noise: Noise) -> Solution:
    """Write one solution; a slip that cannot be written is drawn again."""
    while True:
        try:
            return _attempt(problem, rng, noise)
        except StuckError:
            continue


def right_solution(problem: DemoProblem, rng: random.Random, noise: Noise = CLEAN) -> str:
    """A solution that comes to the exact answer, if need be by way of a check."""
    while True:
        solution = write_solution(problem, rng, noise)
        if is_right(problem, solution):
            return solution.text


def _attempt(problem: DemoProblem, rng: random.Random, noise: Noise) -> Solution:
    pad = Pad(rng, noise.slip, wordy=rng.random() < noise.wordy)
    numbers = _copied(problem.numbers, rng, noise)
    given = problem.kind.given.format(*numbers, **problem.words)
    pad.say(f"We know: {given}." if pad.wordy else f"Given: {given}.")
    wrong = rng.random() < noise.wrong_way
    way = rng.choice(problem.kind.wrong_ways if wrong else problem.kind.ways)
    answer = way(numbers, pad)
    draw = rng.random()
    pad.slip = noise.slip_again
    if draw < noise.check:
        answer = _checked(problem, answer, pad, noise)
    elif draw < noise.check + noise.other_way:
        answer = _compared(problem, way, answer, pad, noise)
    unit = problem.kind.unit.format(**problem.words)
    pad.say(
        f"So the answer is \\boxed{{{answer}}} {unit}." if pad.wordy
        else f"Answer: \\boxed{{{answer}}}"
    )  # fmt: skip
    return Solution((" " if pad.wordy else "\n").join(pad.lines), answer)


def _copied(numbers: Numbers, rng: random.Random, noise: Noise) -> Numbers:
    """The numbers as read: at times one of them is off by a little."""
    if rng.random() >= noise.miscopy:
        return numbers
    copied = list(numbers)
    i = rng.randrange(len(copied))
    copied[i] = max(1, copied[i] + rng.choice((-2, -1, 1, 2)))
    return tuple(copied)


def _checked(problem: DemoProblem, answer: int, pad: Pad, noise: Noise) -> int:
    """Compute back from the answer; on a mismatch solve again with care."""
    pad.say("Let us check." if pad.wordy else "Check:")
    found, expected = problem.kind.check(problem.numbers, answer, pad)
    if found == expected:
        pad.say(f"It should be {expected}, it fits.")
        return answer
    if pad.rng.random() >= noise.noticed:
        pad.say(f"It should be {expected}, good enough.")
        return answer
    pad.say(f"But it should be {expected}, so something is wrong. Again:")
    return pad.rng.choice(problem.kind.ways)(problem.numbers, pad)


def _compared(problem: DemoProblem, way: Way, answer: int, pad: Pad, noise: Noise) -> int:
    """Solve in another way; if the two differ, compute what the exact answer is, with care."""
    pad.say("Now another way.")
    others = [other for other in problem.kind.ways if other is not way]
    other_way = pad.rng.choice(others)
    second = other_way(problem.numbers, pad)
    if second == answer:
        pad.say("Both ways agree.")
        return answer
    if pad.rng.random() >= noise.noticed:
        return answer
    pad.say("The two do not agree. Again:")
    return problem.kind.ways[0](problem.numbers, pad)


def is_right(problem: DemoProblem, solution: Solution) -> bool:
    """Whether the solution comes to the exact answer."""
    return solution.answer == problem.kind.ways[0](problem.numbers, Exact())
