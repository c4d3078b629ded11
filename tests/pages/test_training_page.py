"""The training page: one step of a recorded run, its numbers, its ways to the rollouts."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hara_viz.store import RunWriter
from hara_viz.types import RolloutGroup
from tests.recorded_runs import CONFIG, step_groups, write_step, writer_of
from tests.small_runs import APPLES, PENS, states_of
from tests.ui.apptest import checked, click_row, open_app, selection, shown_text, table

PAGE = "pages/training.py"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARA_VIZ_RUNS", str(tmp_path))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(tmp_path))
    return tmp_path


@pytest.fixture
def run(runs: Path) -> Iterator[RunWriter]:
    """A run that is being written, two steps so far."""
    with writer_of(runs / "live") as writer:
        write_step(writer, 0)
        write_step(writer, 5)
        yield writer


def metrics(at: Any) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def test_a_step_shows_its_figures_and_the_groups_without_signal_first(run: RunWriter) -> None:
    at = open_app({"run": "live", "step": "5", "problem": PENS.problem_id}, PAGE)
    assert "Training step 5" in shown_text(at)
    shown = metrics(at)
    assert shown["Groups"] == "3" and shown["Groups without signal"] == "1"
    assert shown["Right"] == f"{100 * 5 / 13:.0f} %"
    weights = [w for g in step_groups(5) for r in g.rollouts for w in r.recorded_weights or ()]
    at_a_bound = sum(w <= 0.6 + 1e-5 or w >= 1.5 - 1e-5 for w in weights)
    assert shown["Weights at a bound"] == f"{100 * at_a_bound / len(weights):.0f} %"
    groups = table(at, "training.groups")
    assert list(groups["problem"]) == ["apples", "pens", "hostile"]
    assert list(groups["signal"]) == ["none", "yes", "yes"]
    assert list(groups["cut off"]) == [0, 1, 0]
    click_row(at, "training.groups", 0)
    assert selection(at).problem == APPLES.problem_id and selection(at).global_step == 5
    assert at.get("bidi_component")  # the heatmap: it is the Rollouts page now


def test_clipped_weights_and_odd_rewards_lead_to_their_rollouts(run: RunWriter) -> None:
    at = open_app({"run": "live", "step": "5", "problem": APPLES.problem_id}, PAGE)
    odd = table(at, "training.odd")
    cut = odd[odd["what"] == "right, but cut off"]
    assert list(cut["problem"]) == ["pens"] and list(cut["rollout"]) == [0]
    clipped = table(at, "training.clipped")
    names = ["pens", "hostile", "apples"]
    group = step_groups(5)[names.index(clipped.iloc[0]["problem"])]
    rollout = group.rollouts[int(clipped.iloc[0]["rollout"])]
    assert (clipped["low"] + clipped["high"]).sum() > 0
    assert clipped["share"].is_monotonic_decreasing
    at = click_row(at, "training.odd", int(cut.index[0]))
    assert selection(at).problem == PENS.problem_id and selection(at).sample == 0
    at = open_app({"run": "live", "step": "5", "problem": APPLES.problem_id}, PAGE)
    click_row(at, "training.clipped", 0)
    token = selection(at).token
    weights = rollout.recorded_weights
    assert weights and token is not None and not 0.6 + 1e-5 < weights[token] < 1.5 - 1e-5


def test_the_arrows_and_the_slider_keep_to_the_steps_of_the_run(run: RunWriter) -> None:
    at = open_app({"run": "live", "step": "0", "problem": PENS.problem_id}, PAGE)
    assert at.button(key="training.previous").disabled
    at = checked(at.button(key="training.next").click().run())
    assert selection(at).global_step == 5 and selection(at).problem == PENS.problem_id
    assert at.button(key="training.next").disabled


def test_a_run_is_followed_while_it_is_written(run: RunWriter) -> None:
    at = open_app({"run": "live", "step": "0", "problem": PENS.problem_id}, PAGE)
    assert "A trainer is writing this run: 2 steps, the newest is 5." in shown_text(at)
    at = checked(at.toggle(key="training.follow").set_value(True).run())
    assert selection(at).global_step == 5
    write_step(run, 6)
    at = checked(at.run())
    assert selection(at).global_step == 6 and "the newest is 6" in shown_text(at)
    run.finish()
    at = checked(at.run())
    assert "Training step 6" in shown_text(at)


def test_parity_is_checked_and_its_figure_shown(run: RunWriter) -> None:
    at = open_app({"run": "live", "step": "5", "problem": PENS.problem_id}, PAGE)
    at = checked(at.button(key="training.check").click().run())
    n_tokens = sum(len(r.completion_ids) for g in step_groups(5) for r in g.rollouts)
    (verdict,) = (message.value for message in at.success)
    # The recorded A_r is a float32, and two solves may round otherwise.
    found = re.search(rf"{n_tokens:,} tokens in 3 groups differ by at most (\S+) ", verdict)
    assert found and float(found[1]) < 1e-5
    at = checked(at.button(key="training.use_config").click().run())
    assert selection(at).credit == CONFIG and selection(at).layer == 4


def test_other_advantages_are_said_to_differ(runs: Path) -> None:
    with writer_of(runs / "off") as writer:
        group = step_groups(0)[0]
        values = tuple(v + 0.25 for v in group.rollouts[0].recorded_advantages or ())
        rollouts = (replace(group.rollouts[0], recorded_advantages=values), *group.rollouts[1:])
        writer.write_part([RolloutGroup(rollouts)], [states_of(group, 4)])
        writer.finish()
    at = open_app({"run": "off", "problem": PENS.problem_id}, PAGE)
    at = checked(at.button(key="training.check").click().run())
    (verdict,) = (message.value for message in at.error)
    assert verdict.startswith("1 of 1 group differ, by up to 0.25")


def test_without_states_parity_cannot_be_checked_and_the_page_says_so(runs: Path) -> None:
    with writer_of(runs / "bare") as writer:
        write_step(writer, 0, states=False)
        writer.finish()
    at = open_app({"run": "bare", "problem": PENS.problem_id}, PAGE)
    words = "\n".join(info.value.replace("\\", "").replace("\u2060", "") for info in at.info)
    assert "3 groups: Parity cannot be checked: the run keeps no hidden states" in words
    assert 'Recording(states="all")' in words
    assert not [button for button in at.button if button.key == "training.check"]


def test_a_sampled_run_is_shown_as_one_step_and_says_what_it_lacks(
    runs: Path, small_runs: Path
) -> None:
    shutil.copytree(small_runs / "small", runs / "small")
    at = open_app({"run": "small", "problem": PENS.problem_id}, PAGE)
    words = shown_text(at)
    assert "The run" in words and "no trainer recorded it" in words
    assert "examples.train_trl" in words and "hara-viz import" in words, "what would fill the page"
    assert metrics(at)["Groups"] == "3", "what there is of it is shown all the same"
    assert "No trainer recorded weights in this run" in words
    assert metrics(at)["Weights at a bound"] == "–"


def test_a_recorded_run_needs_no_such_words(run: RunWriter) -> None:
    assert "no trainer recorded it" not in shown_text(open_app({"run": "live"}, PAGE))
