"""Comparing runs from their summaries, and what is read beyond them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hara_viz.analysis.figures import run_figures
from hara_viz.backend.compare import (
    Place,
    compare_checkpoints,
    compare_pair,
    outline,
    run_groups,
)
from hara_viz.backend.compare_credit import read_credit
from hara_viz.backend.compare_read import read_answers
from hara_viz.backend.compare_report import compare_runs, metric_texts
from hara_viz.backend.credit import credit_group
from hara_viz.errors import InvalidInputError
from hara_viz.store import Run, RunWriter, open_run
from hara_viz.types import RunInfo
from tests.compared_runs import write_compared
from tests.small_runs import PENS, PENS_TEXTS, group_of

DEMO = Path(__file__).parents[2] / "assets" / "demo" / "runs"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_compared(tmp_path_factory.mktemp("compared"))


@pytest.fixture(scope="module")
def runs(compared: Path) -> list[Run]:
    return [open_run(compared / name) for name in ("late", "early", "stranger")]


def test_checkpoints_stand_by_series_and_step(runs: list[Run]) -> None:
    found = outline([run_groups(run) for run in runs])
    assert [c.place for c in found] == [
        Place("early", 0),
        Place("late", 10),
        Place("stranger", None),
    ]
    assert [c.series for c in found] == ["training", "training", "stranger"]
    assert found[1].label == "late · step 10"
    comparison = compare_checkpoints(found)
    assert comparison.series == {"training": (0, 1), "stranger": (2,)}
    assert (comparison.k, comparison.k_most, comparison.n_common) == (3, 3, 3)


def test_curves_and_verdicts_are_those_of_the_runs(runs: list[Run]) -> None:
    groups = [run_groups(run) for run in runs]
    comparison = compare_checkpoints(outline(groups))
    by_run = {g.name: run_figures(g.groups) for g in groups}
    for place, checkpoint in enumerate(comparison.checkpoints):
        figures = by_run[checkpoint.place.run]
        assert comparison.curves["pass@1"].points[place].value == pytest.approx(figures.pass_at_1)
        assert comparison.curves["pass@k"].points[place].value == pytest.approx(figures.pass_at_k)
    pair = compare_pair(comparison.checkpoints[0], comparison.checkpoints[1], "all")
    table = pair.table.set_index("problem_id")
    assert (table.loc[PENS.problem_id, "rate_a"], table.loc[PENS.problem_id, "rate_b"]) == (
        0.5, pytest.approx(5 / 6)
    )  # fmt: skip
    assert pair.test.difference.interval.value == pytest.approx((1 / 3 + 1 / 4) / 3)
    with pytest.raises(InvalidInputError, match="k is 9"):
        compare_checkpoints(comparison.checkpoints, 9)
    with pytest.raises(InvalidInputError, match="nothing to compare"):
        compare_checkpoints([])


def test_answers_and_entropies_are_those_of_the_rollouts(runs: list[Run]) -> None:
    run = runs[1]
    read = read_answers(run).set_index("problem_id")
    keys = run.keys()
    for key in keys:
        group = run.load_group(key)
        entropy = np.mean([np.mean(r.entropy) for r in group.rollouts if r.entropy])
        assert read.loc[key.problem_id, "entropy"] == pytest.approx(entropy, rel=1e-5)
        known = [r.extracted_answer for r in group.rollouts if r.extracted_answer is not None]
        counts = sorted((known.count(a) for a in set(known)), reverse=True)
        assert read.loc[key.problem_id, "answers"] == tuple(counts)
    comparison = compare_checkpoints(outline([run_groups(run)], {run.name: read.reset_index()}), 1)
    shares = [sum(counts) / n for counts, n in zip(
        read["answers"], [len(run.load_group(k)) for k in keys], strict=True)]  # fmt: skip
    assert comparison.curves["distinct"].points[0].value == pytest.approx(np.mean(shares))


def test_a_run_of_several_steps_gives_a_checkpoint_for_each(tmp_path: Path) -> None:
    from dataclasses import replace

    from hara_viz.types import RolloutGroup

    found = group_of(PENS, PENS_TEXTS)
    with RunWriter(tmp_path / "training", RunInfo()) as writer:
        for step in (5, 10):
            rows = tuple(replace(r, global_step=step) for r in found.rollouts)
            writer.write_part([RolloutGroup(rows)], [])
        writer.finish()
    run = open_run(tmp_path / "training")
    checkpoints = outline([run_groups(run)], {run.name: read_answers(run)})
    assert [c.place.step for c in checkpoints] == [5, 10]
    assert all(c.in_groups and len(c.problems) == 1 for c in checkpoints)
    assert checkpoints[0].problems["answers"][0] == checkpoints[1].problems["answers"][0]
    assert checkpoints[0].problems["answers"][0] is not None


def test_novelty_is_the_mean_of_the_credit(runs: list[Run]) -> None:
    run = runs[1]
    reading = read_credit(run)
    assert reading.n_without == 0
    keys = run.keys()
    for row in reading.groups.itertuples():
        key = next(k for k in keys if k.problem_id == row.problem_id)
        credit = credit_group(run, key).credit
        assert row.novelty == pytest.approx(float(credit.novelty.mean()), rel=1e-5)
    assert set(reading.patterns["kind"]) <= {"word", "step", "position"}
    assert reading.patterns["n_problems"].min() >= 3


def test_a_run_without_states_says_which_command_helps(small_runs: Path) -> None:
    with pytest.raises(InvalidInputError, match="hara-viz states"):
        read_credit(open_run(small_runs / "no-states"))


def test_the_whole_record(runs: list[Run]) -> None:
    found = compare_runs(runs, tokens=True)
    labels = [(p.a.place.run, p.b.place.run) for p in found.pairs]
    assert labels == [("early", "late"), ("late", "stranger")]
    assert found.tokens is not None and found.tokens.agreement is not None
    texts = metric_texts(found.comparison, 0)
    assert texts["pass@1"].startswith("33.3 %")
    assert "Novelty" in texts and "Entropy (nats)" in texts
    assert found.notes == ()
    # Methods and patterns are of the last checkpoint, whatever the order of the words typed.
    turned = compare_runs(runs[::-1], tokens=True)
    assert turned.tokens is not None and turned.tokens.agreement is not None
    pd.testing.assert_frame_equal(turned.tokens.patterns, found.tokens.patterns)
    assert repr(turned.tokens.agreement) == repr(found.tokens.agreement)  # NaN is itself
    quick = compare_runs(runs)
    assert quick.tokens is None
    assert "Novelty" not in metric_texts(quick.comparison, 0)


def test_runs_of_one_name_are_told_apart(compared: Path, tmp_path: Path) -> None:
    again = write_compared(tmp_path / "again")
    found = compare_runs([open_run(compared / "early"), open_run(again / "early")])
    names = {c.place.run for c in found.comparison.checkpoints}
    assert names == {str(compared / "early"), str(again / "early")}


def test_missing_states_are_said_not_hidden(small_runs: Path) -> None:
    found = compare_runs([open_run(small_runs / "no-states")], tokens=True)
    assert any("hara-viz states" in note for note in found.notes)
    assert found.tokens is not None and found.tokens.drift is None


@pytest.mark.slow
def test_the_demo_learns() -> None:
    runs = [open_run(DEMO / name) for name in ("grpo-000", "grpo-150")]
    found = compare_runs(runs)
    test = found.pairs[0].test
    assert (test.n_solved, test.n_lost) == (10, 0)
    assert test.p_mcnemar == pytest.approx(2 / 2**10)
    assert test.difference.interval.low > 0.2
    assert isinstance(found.pairs[0].table, pd.DataFrame)
