"""One writer at a time: a lock file that the kernel frees when its holder dies.

The lock is a POSIX record lock, not the existence of the file: a killed writer leaves a file
behind but no lock, so nothing stale can block the next one, and forked children do not inherit it.
Such locks belong to a process and are lost when *any* descriptor of the file is closed, so all
locking of this process goes through `_HELD`.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from hara_viz.errors import StoreError
from hara_viz.store.files import open_here

_HELD: set[str] = set()
_GUARD = threading.Lock()
_TURNS: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


class FileLock:
    """An exclusive lock on `path`, held until `release` or the end of the process.

    Args:
        path: The lock file; it stays behind, empty of meaning.
        what: What the lock protects, for the message to whoever comes second.

    Raises:
        StoreError: Another writer holds it.
    """

    def __init__(self, path: Path, what: str) -> None:
        self._name = str(path.resolve())
        self._descriptor: int | None = None
        with _GUARD:
            if self._name in _HELD:
                raise StoreError(f"{what} is already being written by this process")
            self._descriptor = _lock(path, what)
            _HELD.add(self._name)

    def release(self) -> None:
        """Let others in; does nothing the second time."""
        with _GUARD:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
                _HELD.discard(self._name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


@contextmanager
def turn(path: Path) -> Iterator[None]:
    """Wait for one's turn on `path`: for short changes of a small file by several processes."""
    import fcntl

    with _GUARD:
        within_process = _TURNS[str(path.resolve())]
    with within_process:
        descriptor = open_here(path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether some living process holds the lock (best effort, for display)."""
    with _GUARD:
        if str(path.resolve()) in _HELD:
            return True
        try:
            descriptor = open_here(path, os.O_RDWR)
        except StoreError:
            return False
        try:
            return not _try_lock(descriptor)
        finally:
            os.close(descriptor)


def _lock(path: Path, what: str) -> int:
    descriptor = open_here(path, os.O_RDWR | os.O_CREAT)
    try:
        if not _try_lock(descriptor):
            raise StoreError(f"{what} is being written by {_holder(descriptor)}; wait or stop it")
        os.ftruncate(descriptor, 0)
        holder = {"pid": os.getpid(), "host": socket.gethostname()}
        os.write(descriptor, json.dumps(holder).encode())
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _try_lock(descriptor: int) -> bool:
    # Here and not at the top: reading a run must also work where there is no fcntl (Windows).
    import fcntl

    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _holder(descriptor: int) -> str:
    try:
        holder = json.loads(os.pread(descriptor, 1000, 0))
        return f"process {holder['pid']} on {holder['host']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
