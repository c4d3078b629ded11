"""Five kinds of word problem: how one is asked, and which ways, mistakes and check belong to it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from examples.demo import ways
from examples.demo.ways import Numbers, Scratch

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gina", "Hugo", "Ida", "Jon")
THINGS = ("pens", "cards", "apples", "stamps", "shells", "buttons", "marbles", "stickers")
PLACES = ("garden", "field", "yard", "pool")
VEHICLES = ("boat", "cart", "bus", "tram")


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


KINDS: tuple[Kind, ...] = (
    Kind(
        name="change",
        draw=ways.draw_change,
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
        ways=(ways.change_by_cost, ways.change_by_adding),
        wrong_ways=(ways.change_one_thing, ways.change_by_sum),
        check=ways.check_change,
    ),
    Kind(
        name="share",
        draw=ways.draw_share,
        questions=(
            "{name} has {0} {thing} and finds {1} more. {2} friends share them equally. "
            "How many {thing} does each friend get?",
            "There are {0} {thing} in one box and {1} in another box. They are shared equally "
            "by {2} friends. How many does each get?",
        ),
        given="{0} {thing}, {1} more, {2} friends",
        unit="{thing}",
        ways=(ways.share_sum, ways.share_by_taking),
        wrong_ways=(ways.share_first_only, ways.share_difference),
        check=ways.check_share,
    ),
    Kind(
        name="compare",
        draw=ways.draw_compare,
        questions=(
            "{name} has {0} {thing}. {other} has {1} more than {name}. "
            "How many {thing} do they have together?",
            "{other} has {1} {thing} more than {name}, and {name} has {0}. "
            "How many {thing} have {name} and {other} together?",
        ),
        given="{name} has {0} {thing}, {other} has {1} more",
        unit="{thing}",
        ways=(ways.compare_other_first, ways.compare_double),
        wrong_ways=(ways.compare_other_only, ways.compare_less),
        check=ways.check_compare,
    ),
    Kind(
        name="travel",
        draw=ways.draw_travel,
        questions=(
            "A {vehicle} goes {0} miles an hour for {1} hours and then {2} miles an hour "
            "for {3} hours. How many miles does it go?",
            "{name} rides in a {vehicle}: {1} hours at {0} miles an hour, then {3} hours at "
            "{2} miles an hour. How long is the way in miles?",
        ),
        given="{0} miles an hour for {1} hours, {2} miles an hour for {3} hours",
        unit="miles",
        ways=(ways.travel_legs, ways.travel_backwards),
        wrong_ways=(ways.travel_one_speed, ways.travel_first_only),
        check=ways.check_travel,
    ),
    Kind(
        name="fence",
        draw=ways.draw_fence,
        questions=(
            "{name} puts a fence around a {place} that is {0} feet long and {1} feet wide, with "
            "a gate of {2} feet. How many feet of fence are needed?",
            "A {place} is {0} feet long and {1} feet wide. The fence around it leaves out a gate "
            "of {2} feet. How long is the fence in feet?",
        ),
        given="{0} feet long, {1} feet wide, a gate of {2} feet",
        unit="feet",
        ways=(ways.fence_half, ways.fence_sides),
        wrong_ways=(ways.fence_no_gate, ways.fence_two_sides),
        check=ways.check_fence,
    ),
)
