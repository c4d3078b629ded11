"""Ctrl-C that cannot get lost.

Python raises KeyboardInterrupt in whatever runs; inside an import's fallback or a destructor a
library may swallow it. The next report of progress then raises it again.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # types.py loads torch
    from hara_viz.types import Progress, Report


@contextmanager
def heeding_ctrl_c(report: Report) -> Iterator[Report]:
    """A report that passes on, and raises KeyboardInterrupt once Ctrl-C was pressed."""
    if threading.current_thread() is not threading.main_thread():
        yield report  # only the main thread hears of signals
        return
    pressed = False

    def note(number: int, frame: Any) -> None:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    def heedful(progress: Progress) -> None:
        if pressed:
            raise KeyboardInterrupt
        report(progress)

    earlier = signal.signal(signal.SIGINT, note)
    try:
        yield heedful
    finally:
        signal.signal(signal.SIGINT, earlier)
