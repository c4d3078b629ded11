"""What `hara-viz show` prints: true numbers, and hostile text made inert."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from hara_viz.analysis.spans import SpanText
from hara_viz.backend.credit import credit_group
from hara_viz.backend.show import novel_spans, show_run
from hara_viz.cli.tables import print_run
from hara_viz.errors import InvalidInputError, MissingInputError
from hara_viz.store import open_run
from tests.small_runs import HOSTILE, HOSTILE_TEXTS, PENS


def test_figures_and_groups(small_run: Path) -> None:
    view = show_run(open_run(small_run))
    assert [(g.source_id, g.n_right, g.n_scored) for g in view.groups] == [
        ("pens", 3, 6), ("hostile", 2, 4), ("apples", 0, 3),
    ]  # fmt: skip
    assert view.figures.pass_at_1 == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    pens = view.groups[0]
    rewards = torch.tensor([1.0, 1, 1, 0, 0, 0])
    expected = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    advantages = [line.advantage for line in pens.rollouts]
    assert advantages == pytest.approx(expected.tolist(), abs=1e-4)
    assert pens.gold == "12" and pens.question == PENS.messages[0].content
    # All wrong: no advantage, and the reader is told why.
    assert {line.advantage for line in view.groups[2].rollouts} == {0.0}
    assert "every advantage is 0" in view.groups[2].notes[0]


def test_spans_are_whole_steps_where_novelty_is_high(small_run: Path) -> None:
    run = open_run(small_run)
    found = credit_group(run, run.keys()[0])
    spans = novel_spans(found, top=4)
    assert len(spans) == 4
    excess = [line.span.excess for line in spans]
    assert excess == sorted(excess, reverse=True) and excess[-1] > 0
    for line in spans:
        row, (_, start, stop, *_) = line.span.row, line.span
        rollout = found.group.rollouts[row]
        assert rollout.sample == line.sample
        novelty = found.of_row(found.credit.novelty, row)[start:stop]
        assert line.span.mean == pytest.approx(float(novelty.mean()), abs=1e-6)
        assert len(set((rollout.reasoning_step or ())[start:stop])) == 1
        assert line.text.inside in rollout.completion_text
        whole = line.text.before + line.text.inside + line.text.after
        assert whole.strip("…") in rollout.completion_text


def test_a_problem_is_found_by_its_ids(small_run: Path) -> None:
    run = open_run(small_run)
    for name in (PENS.problem_id, PENS.problem_id[:6], "pens"):
        assert [g.source_id for g in show_run(run, problem=name).groups] == ["pens"]
    with pytest.raises(MissingInputError, match="no problem 'zzz'"):
        show_run(run, problem="zzz")
    with pytest.raises(MissingInputError):
        show_run(run, problem="")


def test_what_is_left_out_is_counted(small_run: Path) -> None:
    view = show_run(open_run(small_run), limit=1, top=0)
    assert (len(view.groups), view.n_hidden, view.groups[0].spans) == (1, 2, ())


def test_a_run_without_states_is_shown_without_credit(small_runs: Path) -> None:
    view = show_run(open_run(small_runs / "no-states"))
    assert view.groups[0].rollouts[0].advantage is None
    assert "hara-viz states" in view.groups[0].notes[0]
    assert view.figures.pass_at_1 is not None


def test_a_broken_run_is_one_sentence(small_runs: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"run\.json"):
        open_run(small_runs / "broken")


def test_hostile_text_does_nothing_in_a_terminal(
    small_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("FORCE_COLOR", "1")
    view = show_run(open_run(small_run), problem=HOSTILE.problem_id)
    (group,) = view.groups
    span = group.spans[0]
    texts = [SpanText(*(text[i::3] for i in range(3))) for text, _ in HOSTILE_TEXTS] + [
        SpanText("", text, "") for text, _ in HOSTILE_TEXTS
    ]
    spans = tuple(replace(span, text=text) for text in texts)
    lines = tuple(replace(r, answer="\x1b]0;owned\x07", reason="[red]") for r in group.rollouts)
    hostile = replace(
        group, spans=spans, rollouts=lines, gold="\x1b[2J", notes=("\r\x1b[31m",), source_id="\x08"
    )
    print_run(replace(view, name="\x1b[5m", groups=(hostile,), warnings=("[bold]\x07",)))
    shown = capsys.readouterr().out
    # The only control codes are rich's own colours, and they are what it writes for plain text.
    without_colours = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert not [c for c in without_colours if unicodedata.category(c) == "Cc" and c != "\n"]
    assert "\x1b[31mred" not in shown and "\u202e" not in shown
    assert "[31mred" in without_colours  # seen, not obeyed
    for literal in (":red[x]", "<script>", "[l](javascript:alert(1))", "[red]", "[bold]"):
        assert literal in without_colours
