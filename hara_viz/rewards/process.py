"""One worker process seen from its parent: ask, wait, and kill when the time is over.

A plain child process with two pipes rather than `multiprocessing`: that would run the caller's
main module again in each child (a script without a `__main__` guard, a trainer, the app), and its
executors cannot kill one hung worker alone.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from hara_viz.errors import ConfigError
from hara_viz.rewards.spec import RewardTerm

START_LIMIT = 120.0
"""Seconds a worker may take to load its verifiers, on a machine that is busy."""
EXIT_GRACE = 1.0
"""Seconds for a worker that closed its pipe to end by itself."""
# The child resolves modules exactly as its parent does.
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from hara_viz.rewards.worker import main; main()"
)


class WorkerTimeoutError(Exception):
    """The worker took too long and was killed."""


class WorkerDiedError(Exception):
    """The worker ended by itself; the message says how."""


class WorkerProcess:
    """A running worker; `ask` from one thread at a time, `kill` from any."""

    def __init__(self, terms: Sequence[RewardTerm], *, memory_mb: int) -> None:
        """Start a worker and wait until its rewards are loaded.

        Raises:
            ConfigError: a reward cannot be loaded; the message says why.
        """
        # Own functions may print; built-in verifiers would only print model text.
        quiet = not any(term.is_code for term in terms)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOT, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
        )
        self.worn = False
        """True: usable no more, start another."""
        try:
            reply = self.ask({"terms": terms, "memory_mb": memory_mb}, START_LIMIT)
        except (WorkerTimeoutError, WorkerDiedError) as error:
            names = " + ".join(term.name for term in terms)
            raise ConfigError(
                f"the worker for the reward {names!r} did not start ({error}); "
                "see that hara-viz[run] is installed and the machine has memory left"
            ) from error
        if "failed" in reply:
            self.kill()
            raise ConfigError(reply["failed"])

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """Send one request and wait for its reply.

        Raises:
            WorkerTimeoutError: no reply within `timeout` seconds; the worker is dead now.
            WorkerDiedError: the worker ended.
        """
        deadline = _Deadline(self, timeout)
        try:
            line = self._exchange(json.dumps(request).encode("ascii") + b"\n")
        finally:
            expired = deadline.close()
        self.worn = self.worn or expired
        if line.endswith(b"\n"):
            reply = json.loads(line)
            self.worn = self.worn or reply.get("worn", False)
            return reply
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_GRACE)  # its own exit code says more than our signal
        self.kill()
        if expired:
            raise WorkerTimeoutError(f"no reply within {timeout:g} s")
        raise WorkerDiedError(_how_it_ended(self._process.returncode))

    def kill(self) -> None:
        """End the worker, whatever it does, and wait until it is gone. Idempotent."""
        self.worn = True
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Kill and give the pipes back; not while another thread asks."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # unsent bytes of a dead worker
                    pipe.close()

    def _exchange(self, line: bytes) -> bytes:
        """The reply, or nothing if the worker ended."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            return b""
        try:
            stdin.write(line)
            stdin.flush()
            return stdout.readline()
        except (OSError, ValueError):  # a broken pipe, or one closed from another thread
            return b""


class _Deadline:
    """Kills a worker unless closed in time; the two can never both happen."""

    def __init__(self, worker: WorkerProcess, timeout: float) -> None:
        self._worker = worker
        self._lock = threading.Lock()
        self._closed = self._expired = False
        self._timer = threading.Timer(timeout, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def close(self) -> bool:
        """Call it off; True if it was too late."""
        with self._lock:
            self._closed = True
        self._timer.cancel()
        return self._expired

    def _expire(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._expired = True
        self._worker.kill()


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"killed by signal {-code}"
    return f"ended with exit code {code}"
