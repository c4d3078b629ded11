"""Five kinds of word problem: how one is asked, its answer, and the ways to solve it.

A *way* computes with a `Scratch`, which writes each computation down and may let it slip; so a way
is written once and serves right and wrong solutions alike. `wrong_ways` are the usual mistakes of
understanding. A *check* computes backwards from an answer and returns what it finds and what it
should have found; the two agree for the right answer only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

Numbers = tuple[int, ...]
Words = Mapping[str, str]

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gina", "Hugo", "Ida", "Jon")
THINGS = ("pens", "cards", "apples", "stamps", "shells", "buttons", "marbles", "stickers")
PLACES = ("garden", "field", "yard", "pool")
VEHICLES = ("boat", "cart", "bus", "tram")


class Scratch(Protocol):
    """Where a way writes its computations."""

    def step(self, label: str, sentence: str, a: int, op: str, b: int) -> int:
        """Write one computation, named by a label or led in by a sentence; return its result."""
        ...


Way = Callable[[Numbers, Scratch], int]


@dataclass(frozen=True)
class Kind:
    """One kind of problem."""

    name: str
    draw: Callable[[random.Random], Numbers]
    questions: tuple[str, ...]
    """Templates over the numbers {0} {1} … and the words {name} {other} {thing} …"""
    given: str
    """How the question's numbers are said again."""
    unit: str
    ways: tuple[Way, ...]
    """Each gives the right answer when no computation slips; the first one is the gold."""
    wrong_ways: tuple[Way, ...]
    check: Callable[[Numbers, int, Scratch], tuple[int, int]]
    """From an answer to (found, expected)."""


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


KINDS: tuple[Kind, ...] = (
    Kind(
        name="change",
        draw=draw_change,
        questions=(
            "{name} buys {0} {thing} for {1} coins each and pays with {2} coins. "
            "How many coins does {name} get back?",
            "A shop sells {thing} for {1} coins each. {name} takes {0} and gives {2} coins. "
            "How much is the change?",
            "{name} has {2} coins and spends them on {0} {thing} at {1} coins each. "
            "How many coins are left?",
        ),
        given="{0} {thing}, {1} coins each, {2} coins paid",
        unit="coins",
        ways=(change_by_cost, change_by_adding),
        wrong_ways=(change_one_thing, change_by_sum),
        check=check_change,
    ),
    Kind(
        name="share",
        draw=draw_share,
        questions=(
            "{name} has {0} {thing} and finds {1} more. {2} friends share them equally. "
            "How many {thing} does each friend get?",
            "There are {0} {thing} in one box and {1} in another box. They are shared equally "
            "by {2} friends. How many does each get?",
        ),
        given="{0} {thing}, {1} more, {2} friends",
        unit="{thing}",
        ways=(share_sum, share_by_taking),
        wrong_ways=(share_first_only, share_difference),
        check=check_share,
    ),
    Kind(
        name="compare",
        draw=draw_compare,
        questions=(
            "{name} has {0} {thing}. {other} has {1} more than {name}. "
            "How many {thing} do they have together?",
            "{other} has {1} {thing} more than {name}, and {name} has {0}. "
            "How many {thing} have {name} and {other} together?",
        ),
        given="{name} has {0} {thing}, {other} has {1} more",
        unit="{thing}",
        ways=(compare_other_first, compare_double),
        wrong_ways=(compare_other_only, compare_less),
        check=check_compare,
    ),
    Kind(
        name="travel",
        draw=draw_travel,
        questions=(
            "A {vehicle} goes {0} miles an hour for {1} hours and then {2} miles an hour "
            "for {3} hours. How many miles does it go?",
            "{name} rides in a {vehicle}: {1} hours at {0} miles an hour, then {3} hours at "
            "{2} miles an hour. How long is the way in miles?",
        ),
        given="{0} miles an hour for {1} hours, {2} miles an hour for {3} hours",
        unit="miles",
        ways=(travel_legs, travel_backwards),
        wrong_ways=(travel_one_speed, travel_first_only),
        check=check_travel,
    ),
    Kind(
        name="fence",
        draw=draw_fence,
        questions=(
            "{name} puts a fence around a {place} that is {0} feet long and {1} feet wide, with "
            "a gate of {2} feet. How many feet of fence are needed?",
            "A {place} is {0} feet long and {1} feet wide. The fence around it leaves out a gate "
            "of {2} feet. How long is the fence in feet?",
        ),
        given="{0} feet long, {1} feet wide, a gate of {2} feet",
        unit="feet",
        ways=(fence_half, fence_sides),
        wrong_ways=(fence_no_gate, fence_two_sides),
        check=check_fence,
    ),
)
