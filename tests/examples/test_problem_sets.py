"""The shipped problem sets and the generator that wrote them."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from examples.demo.kinds import KINDS
from examples.demo.problems import (
    OPERATIONS,
    Exact,
    draw_problem,
    problem_set,
    read_problems,
    write_problems,
)
from examples.demo.solutions import CLEAN, Noise, Pad, is_right, write_solution
from examples.make_demo import ASSETS, make_problems

SETS = ("problems", "held_out")
COMPUTATION = re.compile(r"(\d+) ([-+*/]) (\d+) = (\d+)")


def rows(name: str) -> list[dict]:
    lines = (ASSETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", SETS)
def test_gold_is_what_the_generator_computes(name: str) -> None:
    for row, problem in zip(rows(name), read_problems(ASSETS / f"{name}.jsonl"), strict=True):
        assert row["question"] == problem.question
        assert row["answer"].endswith(f"\n#### {problem.gold}")
        assert f"\\boxed{{{problem.gold}}}" in row["answer"]


def test_the_sets_are_large_and_even_enough() -> None:
    kinds = Counter(row["kind"] for row in rows("problems"))
    assert sum(kinds.values()) >= 60
    assert set(kinds) == {kind.name for kind in KINDS}
    assert len(kinds) == 5
    assert len(set(kinds.values())) == 1
    assert len(rows("held_out")) >= 24


def test_no_sum_occurs_twice() -> None:
    signatures = [p.signature for name in SETS for p in read_problems(ASSETS / f"{name}.jsonl")]
    assert len(set(signatures)) == len(signatures)


def test_the_shipped_sets_are_what_the_generator_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("examples.make_demo.ASSETS", tmp_path)
    make_problems()
    for name in SETS:
        assert (tmp_path / f"{name}.jsonl").read_bytes() == (ASSETS / f"{name}.jsonl").read_bytes()


def test_write_then_read(tmp_path: Path) -> None:
    problems = problem_set(3, 2, set())
    write_problems(tmp_path / "p.jsonl", problems, ["x"] * len(problems))
    assert read_problems(tmp_path / "p.jsonl") == problems


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_all_ways_and_the_check_agree(kind) -> None:
    rng = random.Random(5)
    for _ in range(300):
        problem = draw_problem(rng, kind)
        answers = {way(problem.numbers, Exact()) for way in kind.ways}
        assert answers == {problem.gold}
        assert problem.gold > 0
        found, expected = kind.check(problem.numbers, problem.gold, Exact())
        assert found == expected
        wrong = problem.gold + rng.choice((-1, 1, 2))
        found, expected = kind.check(problem.numbers, wrong, Exact())
        assert found != expected


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_clean_solution_is_right_in_every_line(kind) -> None:
    rng = random.Random(6)
    for _ in range(200):
        problem = draw_problem(rng, kind)
        solution = write_solution(problem, rng, CLEAN)
        assert is_right(problem, solution)
        for a, op, b, result in COMPUTATION.findall(solution.text):
            assert OPERATIONS[op](int(a), int(b)) == int(result)


def test_about_half_of_the_warm_up_is_right() -> None:
    rng = random.Random(7)
    solved = [
        is_right(problem, write_solution(problem, rng, Noise()))
        for problem in (draw_problem(rng) for _ in range(3000))
    ]
    assert 0.42 < sum(solved) / len(solved) < 0.62


def test_a_check_saves_wrong_starts() -> None:
    def share_right(noise: Noise) -> float:
        rng = random.Random(8)
        problems = [draw_problem(rng) for _ in range(2000)]
        return sum(is_right(p, write_solution(p, rng, noise)) for p in problems) / len(problems)

    assert share_right(Noise(check=1.0)) > share_right(Noise(check=0.0, other_way=0.0)) + 0.2


def test_a_pad_without_slips_writes_the_exact_result() -> None:
    pad = Pad(random.Random(0), slip=0.0, wordy=False)
    assert pad.step("Cost", "They cost", 4, "*", 3) == 12
    assert pad.lines == ["Cost: 4 * 3 = 12."]
