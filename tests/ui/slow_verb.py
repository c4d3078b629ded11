"""A verb for jobs in tests: counts, reports, writes what it did; can be stopped and resumed."""

from __future__ import annotations

import time
from pathlib import Path

from hara_viz.types import Progress, Report


def count_to(*, total: int, pause: float, out: str, report: Report, **_: object) -> str:
    """Append a line per step to `out`, going on where an earlier call stopped."""
    path = Path(out)
    done = len(path.read_text().splitlines()) if path.exists() else 0
    for step in range(done, total):
        report(
            Progress(
                stage="sampling",
                done=step,
                total=total,
                unit="rollouts",
                figures={"pass_rate": 0.25, "tokens_per_second": 92.0},
            )
        )
        time.sleep(pause)
        with path.open("a") as file:
            file.write(f"{step}\n")
    return out
