"""The process of a job: `python -m hara_viz.backend.job_worker DIRECTORY …` (see `main`).

Waits for the device, runs the verb, writes what it reports to `events.jsonl`. SIGTERM stops it at
the verb's next report (at once while it waits), so that the verb ends between two parts.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hara_viz.backend.job_queue import keep_ticket, wait_for_turn
from hara_viz.backend.job_record import (
    OUTPUT,
    append_event,
    progress_values,
    read_arguments,
)
from hara_viz.errors import HaraError

if TYPE_CHECKING:
    from hara_viz.types import Progress  # loaded by the verb: a waiting job stays small

_SHORTEST, _LONGEST = 0.25, 5.0
"""Seconds between two progress events: few at first, then fewer, so that long jobs stay small."""


class Stopped(BaseException):
    """The job was asked to stop. Not an Exception, so that no verb takes it for a failure."""


class Worker:
    """Runs one verb and tells how it goes."""

    def __init__(self, directory: Path, attempt: int) -> None:
        self._directory = directory
        self._attempt = attempt
        self._started: float | None = None
        self._stopping = False
        self._waiting = False
        self._stages: dict[str, tuple[float, int]] = {}  # its first report: time, done
        self._begun = time.monotonic()
        self._last_event = 0.0

    def run(self, target: str, ticket: Path | None) -> int:
        """Run the verb to its end; returns the exit code."""
        signal.signal(signal.SIGTERM, self._stop)
        _spare_children()
        try:
            if ticket is not None:
                self._wait(ticket)
            self._begun, self._started = time.monotonic(), time.time()
            self._tell("started")
            module, _, function = target.partition(":")
            verb = getattr(importlib.import_module(module), function)
            result = verb(**read_arguments(self._directory), report=self.report)
        except Stopped:
            self._tell("stopped")
            return 3
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the job's state must say so
            traceback.print_exc()
            self._tell("failed", error=_sentence(error))
            return 1
        self._tell("done", result=_plain(result))
        return 0

    def report(self, progress: Progress) -> None:
        """Write a progress event, unless the last one is too young; stop here if asked to."""
        if self._stopping:
            raise Stopped
        now = time.monotonic()
        new_stage = progress.stage not in self._stages
        if new_stage:
            self._stages[progress.stage] = (now, progress.done)
        due = min(_LONGEST, max(_SHORTEST, (now - self._begun) / 500))
        finished = progress.total is not None and progress.done >= progress.total
        if not (new_stage or finished or now - self._last_event >= due):
            return
        self._last_event = now
        rate = self._rate(progress, now)
        left = None
        if rate and progress.total is not None:
            left = max(progress.total - progress.done, 0) / rate
        with contextlib.suppress(OSError):  # a full disk is for the verb's own writes to tell
            self._tell("progress", **progress_values(progress, rate, left))

    def _tell(self, event: str, **values: Any) -> None:
        append_event(self._directory, event, self._attempt, started=self._started, **values)

    def _rate(self, progress: Progress, now: float) -> float | None:
        since, done_before = self._stages[
            progress.stage
        ]  # what an earlier attempt did is not counted
        done, seconds = progress.done - done_before, now - since
        return done / seconds if done > 0 and seconds > 0 else None

    def _wait(self, ticket: Path) -> None:
        self._waiting = True
        if self._stopping:
            raise Stopped
        wait_for_turn(ticket)
        self._waiting = False

    def _stop(self, *_: Any) -> None:
        self._stopping = True
        if self._waiting:
            raise Stopped


def _spare_children() -> None:
    """Let a verb's own workers die of SIGTERM, rather than take it for a wish to the job."""

    def hold_back() -> None:  # else a signal right after the fork would be lost on our handler
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})

    def let_through() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def as_usual() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        let_through()

    os.register_at_fork(before=hold_back, after_in_parent=let_through, after_in_child=as_usual)


def _sentence(error: BaseException) -> str:
    if isinstance(error, HaraError):
        return " ".join(str(error).split())
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}: {first} (this is a defect; the job's {OUTPUT} has the details)"


def _plain(result: Any) -> Any:
    """The result if it is plain data (a path becomes its text), else None."""
    try:
        return json.loads(json.dumps(result, default=os.fspath, allow_nan=False))
    except (TypeError, ValueError):
        return None


def main(arguments: list[str]) -> int:
    """Entry point: DIRECTORY ATTEMPT TARGET [TICKET DESCRIPTOR]."""
    directory, attempt, target, *queue = arguments
    ticket = None
    if queue:
        ticket = Path(queue[0])
        keep_ticket(int(queue[1]))
    return Worker(Path(directory), int(attempt)).run(target, ticket)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
