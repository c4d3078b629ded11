"""What the jobs of the tests do: real work is not needed to see how a process is handled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hara_viz.errors import InvalidInputError

if TYPE_CHECKING:
    from hara_viz.types import Report


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The fields of `hara_viz.types.Progress`, which brings torch and so seconds to each test."""

    stage: str
    done: int
    total: int | None
    unit: str
    figures: Mapping[str, float] = field(default_factory=dict)


def progress(*, real: bool = False, **values: Any) -> Any:
    if real:
        from hara_viz.types import Progress as RealProgress

        return RealProgress(**values)
    return Progress(**values)


def count(
    report: Report, n: int = 3, pause: float = 0.0, out: str | None = None, real: bool = False
) -> str | None:
    """Count to n; with `out`, each number is a line there, and those that are there are skipped."""
    done = len(Path(out).read_text().splitlines()) if out and Path(out).exists() else 0
    for number in range(done, n):
        report(progress(real=real, stage="counting", done=number, total=n, unit="numbers"))
        if out:
            with Path(out).open("a") as file:
                file.write(f"{number}\n")
        time.sleep(pause)
    report(
        progress(
            real=real,
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
    report(progress(stage="deaf", done=child.pid, total=None, unit="pid"))
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
