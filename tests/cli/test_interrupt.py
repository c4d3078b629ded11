from __future__ import annotations

import contextlib
import os
import signal

import pytest

from hara_viz.cli.interrupt import heeding_ctrl_c
from hara_viz.types import Progress

PROGRESS = Progress(stage="loading", done=0, total=1, unit="models")


def test_an_interrupt_that_a_library_swallowed_is_raised_by_the_next_report() -> None:
    heard: list[Progress] = []
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), heeding_ctrl_c(heard.append) as report:
        report(PROGRESS)
        with contextlib.suppress(BaseException):  # what some libraries do
            os.kill(os.getpid(), signal.SIGINT)
        report(PROGRESS)
    assert heard == [PROGRESS]
    assert signal.getsignal(signal.SIGINT) is before
