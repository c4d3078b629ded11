"""What a batch calls in its tests: it leaves a line in a file each time it is really run."""

from __future__ import annotations

import time
from pathlib import Path

from hara_viz.errors import InvalidInputError


def nap(folder: str, number: int, seconds: float) -> int:
    """Sleep, and tell that it ran."""
    with (Path(folder) / "ran").open("a") as out:
        out.write(f"{number}\n")
    time.sleep(seconds)
    return 10 * number


def refuse(word: str) -> None:
    """Fail as a backend does."""
    raise InvalidInputError(f"there is no {word}")
