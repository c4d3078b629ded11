"""Progress in words: rate, time left, figures; lines where there is no terminal."""

from __future__ import annotations

import pytest

from hara_viz.cli.progress import (
    Meter,
    figure_words,
    progress_bar,
    rate_words,
    status_words,
    time_words,
)
from hara_viz.types import Progress


def at(done: int, total: int | None = 32, **figures: float) -> Progress:
    return Progress(stage="sampling", done=done, total=total, unit="rollouts", figures=figures)


def test_rate_and_time_left_count_from_where_a_resumed_run_began() -> None:
    meter = Meter(started=100.0, first=16)
    assert meter.rate(24, 104.0) == 2.0
    assert meter.seconds_left(24, 32, 104.0) == 4.0


def test_nothing_is_claimed_before_it_is_known() -> None:
    meter = Meter(started=100.0, first=16)
    assert meter.rate(16, 130.0) is None
    assert meter.seconds_left(20, None, 110.0) is None
    assert status_words(at(16), meter, 130.0) == ""


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (None, ""),
        (0.02, "50 s per rollout"),
        (2.25, "2.2 rollouts/s"),
        (1234.5, "1,234 rollouts/s"),
    ],
)
def test_rates_in_words(rate: float | None, words: str) -> None:
    assert rate_words(rate, "rollouts") == words


@pytest.mark.parametrize(("seconds", "words"), [(0.4, "0:00"), (65, "1:05"), (3723, "1:02:03")])
def test_times_in_words(seconds: float, words: str) -> None:
    assert time_words(seconds) == words


def test_figures_in_words_leave_out_what_is_unknown() -> None:
    figures = {"pass_rate": 0.3125, "tokens_per_second": 92.4, "x_y": 1.5, "nothing": float("nan")}
    assert figure_words(figures) == "pass rate 31 %, 92 tokens/s, x y 1.5"


def test_a_status_says_all_of_it_and_no_time_left_at_the_end() -> None:
    meter = Meter(started=0.0, first=0)
    assert status_words(at(8, pass_rate=0.5), meter, 4.0) == (
        "2.0 rollouts/s · pass rate 50 % · 0:12 left"
    )
    assert "left" not in status_words(at(32), meter, 16.0)


def test_without_a_terminal_there_are_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as report:
        for done in range(33):
            report(at(done))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "sampling 0/32 rollouts"
    assert lines[-1].startswith("sampling 32/32 rollouts")
    assert len(lines) == 2
