"""What Ctrl-C leaves behind, said in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def say_what_is_kept(run: Path, noun: str = "groups") -> Iterator[None]:
    """On Ctrl-C, say what of the run is safe and how to go on; the interrupt goes on its way."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"\nhara-viz: stopped; {_kept(run, noun)}\n")
        raise


def _kept(run: Path, noun: str) -> str:
    from hara_viz.backend.runs import open_run
    from hara_viz.errors import HaraError

    try:
        count = len(open_run(run).keys())
    except HaraError:
        return "nothing was written"
    return f"{count} {noun} are kept in {run}, the same command goes on from there"


@contextmanager
def say_how_to_go_on(what: str) -> Iterator[None]:
    """On Ctrl-C, say that `what` is kept and that the same command goes on."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(
            f"\nhara-viz: stopped; {what} are kept, the same command goes on from there\n"
        )
        raise
