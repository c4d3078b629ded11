"""How the five kinds of problem are drawn, solved, misunderstood and checked.

A *way* computes with a `Scratch`, which writes each computation down and may let it slip; so a way
is written once and serves right and wrong solutions alike. A *check* computes backwards from an
answer and returns what it finds and what it should have found; the two agree for the right answer
only.
"""

from __future__ import annotations

import random
from typing import Protocol

Numbers = tuple[int, ...]
"""The numbers of a question, in the order of its template."""


class Scratch(Protocol):
    """Where a way writes its computations."""

    def step(self, label: str, sentence: str, a: int, op: str, b: int) -> int:
        """Write one computation, named by a label or led in by a sentence; return its result."""
        ...


def repeated(s: Scratch, sentence: str, times: int, size: int) -> int:
    """`times` times `size` by adding, one line for each addition."""
    total = size
    for _ in range(times - 1):
        total = s.step("Add", sentence, total, "+", size)
    return total


# --- buying: n things at a price, paid with a larger sum; what is the change? -------------------


def draw_change(rng: random.Random) -> Numbers:
    n, price = rng.randint(2, 6), rng.randint(2, 7)
    return n, price, n * price + rng.randint(2, 12)


def change_by_cost(v: Numbers, s: Scratch) -> int:
    cost = s.step("Cost", "All together they cost", v[0], "*", v[1])
    return s.step("Change", "What is left of the money is", v[2], "-", cost)


def change_by_adding(v: Numbers, s: Scratch) -> int:
    cost = repeated(s, "One more makes", v[0], v[1]) if v[0] <= 5 else repeated(
        s, "One more makes", *sorted(v[:2])
    )  # fmt: skip
    return s.step("Change", "What is left of the money is", v[2], "-", cost)


def change_one_thing(v: Numbers, s: Scratch) -> int:
    return s.step("Change", "What is left of the money is", v[2], "-", v[1])


def change_by_sum(v: Numbers, s: Scratch) -> int:
    cost = s.step("Cost", "All together they cost", v[0], "+", v[1])
    return s.step("Change", "What is left of the money is", v[2], "-", cost)


def check_change(v: Numbers, answer: int, s: Scratch) -> tuple[int, int]:
    cost = s.step("Cost again", "Once more, they cost", v[1], "*", v[0])
    return s.step("Check", "The cost and the change make", cost, "+", answer), v[2]


# --- sharing: some things and some more, shared equally; how many each? ------------------------


def draw_share(rng: random.Random) -> Numbers:
    friends, each = rng.randint(2, 6), rng.randint(3, 8)
    first = friends * rng.randint(1, each - 1)
    shift = rng.randint(0, friends - 1) if rng.random() < 0.5 else 0
    return first + shift, friends * each - first - shift, friends


def share_sum(v: Numbers, s: Scratch) -> int:
    total = s.step("Total", "All together there are", v[0], "+", v[1])
    return s.step("Each", "Shared equally, each gets", total, "/", v[2])


def share_by_taking(v: Numbers, s: Scratch) -> int:
    """Hand out one to each until nothing is left; for many rounds, divide after all."""
    left = s.step("Total", "All together there are", v[1], "+", v[0])
    if not 0 < left // v[2] <= 5:
        return s.step("Each", "Shared equally, each gets", left, "/", v[2])
    rounds = 0
    while left >= v[2] and rounds < 6:
        left = s.step("Left", "After one more for each, what is left is", left, "-", v[2])
        rounds += 1
    return rounds


def share_first_only(v: Numbers, s: Scratch) -> int:
    return s.step("Each", "Shared equally, each gets", v[0], "/", v[2])


def share_difference(v: Numbers, s: Scratch) -> int:
    total = s.step("Total", "All together there are", max(v[:2]), "-", min(v[:2]))
    return s.step("Each", "Shared equally, each gets", total, "/", v[2])


def check_share(v: Numbers, answer: int, s: Scratch) -> tuple[int, int]:
    total = s.step("All shares", "All the shares make", answer, "*", v[2])
    return s.step("Check", "Without the new ones that is", total, "-", v[1]), v[0]


# --- comparing: one has some, the other has more; how many together? ---------------------------


def draw_compare(rng: random.Random) -> Numbers:
    return rng.randint(3, 20), rng.randint(2, 12)


def compare_other_first(v: Numbers, s: Scratch) -> int:
    other = s.step("Other", "The other one has", v[0], "+", v[1])
    return s.step("Together", "Together they have", v[0], "+", other)


def compare_double(v: Numbers, s: Scratch) -> int:
    twice = s.step("Twice", "If both had the same, they would have", v[0], "*", 2)
    return s.step("Together", "With the extra ones they have", twice, "+", v[1])


def compare_other_only(v: Numbers, s: Scratch) -> int:
    return s.step("Other", "The other one has", v[0], "+", v[1])


def compare_less(v: Numbers, s: Scratch) -> int:
    other = s.step("Other", "The other one has", max(v), "-", min(v))
    return s.step("Together", "Together they have", v[0], "+", other)


def check_compare(v: Numbers, answer: int, s: Scratch) -> tuple[int, int]:
    rest = s.step("Other again", "Without the first one that is", answer, "-", v[0])
    return s.step("Check", "The other one has more by", rest, "-", v[0]), v[1]


# --- travelling: two legs at two speeds; how far? ------------------------------------------------


def draw_travel(rng: random.Random) -> Numbers:
    return rng.randint(2, 7), rng.randint(2, 4), rng.randint(2, 7), rng.randint(2, 4)


def travel_legs(v: Numbers, s: Scratch) -> int:
    first = s.step("First part", "The first part is", v[0], "*", v[1])
    second = s.step("Second part", "The second part is", v[2], "*", v[3])
    return s.step("Way", "Both parts make", first, "+", second)


def travel_backwards(v: Numbers, s: Scratch) -> int:
    second = s.step("Second part", "The second part is", v[3], "*", v[2])
    first = s.step("First part", "The first part is", v[1], "*", v[0])
    return s.step("Way", "Both parts make", second, "+", first)


def travel_one_speed(v: Numbers, s: Scratch) -> int:
    hours = s.step("Hours", "The hours are", v[1], "+", v[3])
    return s.step("Way", "So the way is", v[0], "*", hours)


def travel_first_only(v: Numbers, s: Scratch) -> int:
    first = s.step("First part", "The first part is", v[0], "*", v[1])
    return s.step("Way", "Both parts make", first, "+", v[2])


def check_travel(v: Numbers, answer: int, s: Scratch) -> tuple[int, int]:
    second = s.step("Second part again", "Once more, the second part is", v[3], "*", v[2])
    first = s.step("First part again", "Once more, the first part is", v[1], "*", v[0])
    return s.step("Check", "Without the second part that is", answer, "-", second), first


# --- fencing: a rectangle with a gate; how long is the fence? -------------------------------------


def draw_fence(rng: random.Random) -> Numbers:
    wide = rng.randint(3, 12)
    return rng.randint(wide + 1, 16), wide, rng.randint(2, 6)


def fence_half(v: Numbers, s: Scratch) -> int:
    half = s.step("Half", "Half of the way around is", v[0], "+", v[1])
    around = s.step("Around", "All the way around is", half, "*", 2)
    return s.step("Fence", "Without the gate that is", around, "-", v[2])


def fence_sides(v: Numbers, s: Scratch) -> int:
    longs = s.step("Long sides", "The two long sides make", v[0], "*", 2)
    wides = s.step("Short sides", "The two short sides make", v[1], "*", 2)
    around = s.step("Around", "All the way around is", longs, "+", wides)
    return s.step("Fence", "Without the gate that is", around, "-", v[2])


def fence_no_gate(v: Numbers, s: Scratch) -> int:
    half = s.step("Half", "Half of the way around is", v[0], "+", v[1])
    return s.step("Around", "All the way around is", half, "*", 2)


def fence_two_sides(v: Numbers, s: Scratch) -> int:
    half = s.step("Around", "All the way around is", v[0], "+", v[1])
    return s.step("Fence", "Without the gate that is", half, "-", v[2])


def check_fence(v: Numbers, answer: int, s: Scratch) -> tuple[int, int]:
    half = s.step("Half again", "Once more, half of the way around is", v[1], "+", v[0])
    around = s.step("Around again", "Once more, all the way around is", half, "*", 2)
    return s.step("Check", "The fence and the gate make", answer, "+", v[2]), around
