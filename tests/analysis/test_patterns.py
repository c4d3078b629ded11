from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hara_viz.analysis.patterns import PatternCount, occurrences, standardised
from hara_viz.types import GroupKey, Message, Problem, RolloutGroup
from tests.small_runs import END, group_of, token_id

TEXTS = (("There are 3 boxes.\nSo 12 pens.", 1.0), ("There are 41 boxes.\nWait, 7 pens.", 1.0))


def group(number: int = 0) -> RolloutGroup:
    problem = Problem(messages=(Message("user", f"Problem {number}?"),), gold="12")
    return group_of(problem, TEXTS)


def test_standardising_is_what_the_weights_see() -> None:
    found = standardised(np.array([1.0, 2.0, math.nan, 3.0]))
    assert math.isnan(found[2])
    known = found[[0, 1, 3]]
    assert known.mean() == pytest.approx(0) and known.std() == pytest.approx(1)
    assert list(standardised(np.full(3, 0.7))) == [0.0, 0.0, 0.0]
    assert np.isnan(standardised(np.full(2, math.nan))).all()


def test_a_rollout_gives_its_words_steps_and_positions() -> None:
    rollout = group().rollouts[0]
    z = np.arange(len(rollout.completion_ids), dtype=float)
    found = list(occurrences(rollout, z, (token_id(END),)))
    words = {o.text: o for o in found if o.kind == "word"}
    assert set(words) == {"there", "are", "#", "boxes", "so", "pens"}
    assert (words["boxes"].token, words["boxes"].z) == (3, 3.0)
    steps = [o for o in found if o.kind == "step"]
    assert [o.text for o in steps] == ["there are # boxes.", "so # pens."]
    assert [o.z for o in steps] == [1.5, 5.0]  # the marker at the end belongs to neither
    positions = [o for o in found if o.kind == "position"]
    assert positions[0].text == "0–10 %" and positions[-1].text != "100–110 %"
    assert sum(o.token == 0 for o in found) == 3


def test_tokens_that_are_not_its_own_count_nowhere() -> None:
    rollout = group().rollouts[0]
    z = np.full(len(rollout.completion_ids), math.nan)
    assert list(occurrences(rollout, z)) == []
    z[1] = 2.0
    assert {(o.kind, o.text) for o in occurrences(rollout, z)} == {
        ("position", "10–20 %"), ("word", "are"), ("step", "there are # boxes.")
    }  # fmt: skip


def test_a_line_end_belongs_to_no_word() -> None:
    problem = Problem(messages=(Message("user", "?"),), gold="12")
    rollout = group_of(problem, [("So 12", 1.0)]).rollouts[0]
    text = "So\n12" + END
    cut = replace(rollout, completion_text=text, cell_start=(0, 2, 3), completion_ids=(1, 2, 3))
    cut = replace(cut, logprobs=None, entropy=None, reasoning_step=None)
    words = [o for o in occurrences(cut, np.array([1.0, 9.0, 2.0])) if o.kind == "word"]
    assert [(o.text, o.z) for o in words] == [("so", 1.0), ("#", 2.0)]


def test_imported_text_without_cells_has_positions_only() -> None:
    rollout = replace(group().rollouts[0], cell_start=None)
    z = np.zeros(len(rollout.completion_ids))
    assert {o.kind for o in occurrences(rollout, z)} == {"position"}


def planted(n_problems: int, noise: float) -> PatternCount:
    """ "wait" is novel in every problem, all else is noise."""
    generator = np.random.default_rng(0)
    count = PatternCount((token_id(END),))
    for number in range(n_problems):
        of_problem = group(number)
        for rollout in of_problem.rollouts:
            z = generator.normal(0, noise, len(rollout.completion_ids))
            if "Wait" in rollout.completion_text:
                z[4] += 3.0
            count.add(of_problem.key, rollout, True, z)
    return count


def test_what_is_novel_in_every_problem_stands_first_with_its_example() -> None:
    table = planted(12, 0.5).table()
    words = table[table["kind"] == "word"]
    best = words.iloc[0]
    assert (best["text"], best["n"], best["n_problems"], best["share"]) == ("wait", 12, 12, 1.0)
    assert best["low"] > 2 and best["q"] < 1e-6
    assert (best["sample"], best["token"]) == (1, 4)
    others = words[words["text"] != "wait"]
    assert (others["q"] > 0.01).all(), "noise is no finding"
    assert words.set_index("text").loc["there", "n"] == 24


def test_problems_are_counted_not_occurrences() -> None:
    count = PatternCount()
    key = GroupKey(None, "p", 0)
    rollout = group().rollouts[0]
    for _ in range(50):
        count.add(key, rollout, True, np.ones(len(rollout.completion_ids)))
    assert len(count.table()) == 0
    assert count.table(min_problems=1)["n_problems"].max() == 1
    assert count.table(min_problems=1)["q"].isna().all()


def test_right_and_wrong_are_kept_apart() -> None:
    count = PatternCount()
    for number in range(3):
        for success, rollout in zip((True, False), group(number).rollouts, strict=True):
            value = 1.0 if success else -1.0
            z = np.full(len(rollout.completion_ids), value)
            count.add(group(number).key, rollout, success, z)
    table = count.table()
    boxes = table[table["text"] == "boxes"].set_index("success")
    assert (boxes.loc[True, "z"], boxes.loc[False, "z"]) == (1.0, -1.0)
