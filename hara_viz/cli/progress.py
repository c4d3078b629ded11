"""How a long step shows itself: a bar in a terminal, a line now and then in a log.

Both say the same: done of total, rate, time left, and the figures known so far. All of it goes to
stderr, so that stdout stays what the verb prints.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hara_viz.cli.interrupt import heeding_ctrl_c

if TYPE_CHECKING:  # types.py loads torch
    from hara_viz.types import Progress, Report

SECONDS_BETWEEN_LINES = 5.0
PERCENT = {"pass_rate": "pass rate"}
PER_SECOND = {"tokens_per_second": "tokens/s"}


@dataclass(slots=True)
class Meter:
    """Rate and time left of one stage, from the reports so far."""

    started: float
    """When the first report came, in seconds of any clock."""
    first: int
    """What was already done then (a resumed run starts in the middle)."""

    def rate(self, done: int, now: float) -> float | None:
        """Units per second since the first report; None while nothing is known."""
        elapsed = now - self.started
        return (done - self.first) / elapsed if elapsed > 0 and done > self.first else None

    def seconds_left(self, done: int, total: int | None, now: float) -> float | None:
        """At the rate so far; None while that or the total is unknown."""
        rate = self.rate(done, now)
        return None if rate is None or total is None else max(0, total - done) / rate


def rate_words(rate: float | None, unit: str) -> str:
    """In words, as in "3.2 rollouts/s"; slow work is told as seconds per unit."""
    if rate is None:
        return ""
    if rate < 0.1:
        return f"{1 / rate:.0f} s per {unit.removesuffix('s')}"
    return f"{rate:,.0f} {unit}/s" if rate >= 20 else f"{rate:.1f} {unit}/s"


def time_words(seconds: float) -> str:
    """As a clock shows it: "0:42", "12:05", "3:02:10"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def figure_words(figures: Mapping[str, float]) -> str:
    """In words, as in "pass rate 31 %, 92 tokens/s"; a name without a rule stands as it is."""
    words: list[str] = []
    for name, value in figures.items():
        if value != value:  # NaN: not known yet
            continue
        if name in PERCENT:
            words.append(f"{PERCENT[name]} {value:.0%}".replace("%", " %"))
        elif name in PER_SECOND:
            words.append(f"{value:,.0f} {PER_SECOND[name]}")
        else:
            words.append(f"{name.replace('_', ' ')} {value:,.4g}")
    return ", ".join(words)


def status_words(progress: Progress, meter: Meter, now: float) -> str:
    """All that follows the count: rate, figures, time left."""
    left = meter.seconds_left(progress.done, progress.total, now)
    single = progress.total == 1  # one thing has no rate
    parts = [
        "" if single else rate_words(meter.rate(progress.done, now), progress.unit),
        figure_words(progress.figures),
        f"{time_words(left)} left" if left is not None and progress.done != progress.total else "",
    ]
    return " · ".join(part for part in parts if part)


@contextmanager
def progress_bar() -> Iterator[Report]:
    """A `Report` that draws on stderr until the block ends, and heeds Ctrl-C."""
    if sys.stderr.isatty():
        with _bar() as report, heeding_ctrl_c(report) as heedful:
            yield heedful
    else:
        with heeding_ctrl_c(_Lines().report) as heedful:
            yield heedful


@contextmanager
def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, TaskID, TextColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=28),
        TextColumn("{task.fields[count]}"),
        TextColumn("[dim]{task.fields[status]}"),
        console=Console(stderr=True),
        refresh_per_second=8,
    )
    stages: dict[str, tuple[TaskID, Meter]] = {}

    def report(progress: Progress) -> None:
        now = time.monotonic()
        if progress.stage not in stages:
            task = bars.add_task(escape(progress.stage), total=progress.total, count="", status="")
            stages[progress.stage] = (task, Meter(now, progress.done))
        task, meter = stages[progress.stage]
        bars.update(
            task,
            completed=progress.done,
            total=progress.total,
            count=escape(count_words(progress)),
            status=escape(status_words(progress, meter, now)),
        )

    with bars:
        yield report


@dataclass(slots=True)
class _Lines:
    """Plain lines for logs: when a stage starts or ends, and every few seconds between."""

    meters: dict[str, Meter] = field(default_factory=dict)
    last: float = float("-inf")

    def report(self, progress: Progress) -> None:
        now = time.monotonic()
        known = progress.stage in self.meters
        meter = self.meters.setdefault(progress.stage, Meter(now, progress.done))
        ended = progress.done == progress.total
        if known and not ended and now - self.last < SECONDS_BETWEEN_LINES:
            return
        self.last = now
        status = status_words(progress, meter, now)
        tail = f" · {status}" if status else ""
        sys.stderr.write(f"{progress.stage} {count_words(progress)}{tail}\n")
        sys.stderr.flush()


def count_words(progress: Progress) -> str:
    """As in "12/32 rollouts"; a single thing is under way or done."""
    if progress.total == 1:
        return "done" if progress.done else "…"
    total = "" if progress.total is None else f"/{progress.total:,}"
    return f"{progress.done:,}{total} {progress.unit}"
