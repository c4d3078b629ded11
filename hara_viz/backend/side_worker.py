"""The process behind `side_process.SideProcess`: reads calls from stdin, answers on stdout.

Ends when its stdin is closed, which happens at the latest when the app ends.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pickle
import signal
import sys
import traceback
from functools import partial
from typing import IO, Any

from hara_viz.errors import HaraError


def main() -> None:
    """Serve until the caller is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the app; it closes our stdin
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not get among the answers
    while True:
        try:
            target, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        _send(answers, _answer(target, arguments, answers))


def _send(answers: IO[bytes], message: tuple[str, Any]) -> None:
    pickle.dump(message, answers)
    answers.flush()


def _answer(target: str, arguments: tuple[Any, ...], answers: IO[bytes]) -> tuple[str, Any]:
    module, _, name = target.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
        if "report" in inspect.signature(function).parameters:
            told = partial(_send, answers)
            return "result", function(*arguments, report=lambda step: told(("progress", step)))
        return "result", function(*arguments)
    except HaraError as error:
        return "error", error
    except Exception as error:  # noqa: BLE001 - the caller must hear of it, and calls go on
        traceback.print_exc()
        return "error", f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
