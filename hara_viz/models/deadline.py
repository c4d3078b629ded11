"""Run a Python function with a time limit, from any thread.

`signal.alarm` works in the main thread only, and the app calls from others. The function runs in a
thread of its own; past the limit an exception is raised inside it. That ends any loop of Python
code, such as a compiled Jinja template, but no single long call into C.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class _Stop(BaseException):
    """Raised inside the thread; a BaseException, so that no `except Exception` swallows it."""


def call_with_deadline(function: Callable[[], T], seconds: float) -> T:
    """Result of `function()`, or what it raised.

    Raises:
        TimeoutError: It took longer than `seconds`.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except _Stop:
            pass
        except BaseException as error:  # noqa: BLE001 - handed to the caller, who decides
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stop)
        )
        raise TimeoutError
    if errors:
        raise errors[0]
    return results[0]
