"""What the jobs of the tests do: real work is not needed to see how a process is handled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from multiprocessing import get_context
from pathlib import Path

from hara_viz.errors import InvalidInputError
from hara_viz.types import Progress, Report


def count(
    report: Report, n: int = 3, pause: float = 0.0, out: str | None = None, device: str = ""
) -> str | None:
    """Count to n; with `out`, each number is a line there, and those that are there are skipped."""
    done = len(Path(out).read_text().splitlines()) if out and Path(out).exists() else 0
    for number in range(done, n):
        report(Progress(stage="counting", done=number, total=n, unit="numbers"))
        if out:
            with Path(out).open("a") as file:
                file.write(f"{number}\n")
        time.sleep(pause)
    report(
        Progress(
            stage="counting",
            done=n,
            total=n,
            unit="numbers",
            figures={"last": n - 1, "odd": float("nan")},
        )
    )
    return out


def refuse(report: Report) -> None:
    raise InvalidInputError("temperature is -1; it must be\n0 or more")


def break_down(report: Report) -> None:
    raise RuntimeError("first line\nsecond line")


def leave(report: Report) -> None:
    sys.exit(7)


def be_deaf(report: Report) -> None:
    """Never reports again, and leaves a child behind when it is killed."""
    child = subprocess.Popen(["sleep", "60"])
    report(Progress(stage="deaf", done=child.pid, total=None, unit="pid"))
    time.sleep(60)


def shoot_oneself(report: Report) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def terminate_child(report: Report) -> int | None:
    """A forked worker of the verb dies of SIGTERM, though the job itself only takes note of it."""
    child = get_context("fork").Process(target=time.sleep, args=(60,))
    child.start()
    child.terminate()
    child.join(10)
    code = child.exitcode
    child.kill()
    return code


def fork_and_leave(report: Report, device: str = "") -> int:
    """Ends at once; a child that it forked lives on."""
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    return child


def mark(report: Report, name: str, log: str, pause: float, device: str = "") -> None:
    """Write when it begins and ends to a common log."""
    for word in ("begin", "end"):
        with Path(log).open("a") as file:
            file.write(f"{name} {word}\n")
        if word == "begin":
            time.sleep(pause)
