"""Processes by pid and start time, so that a recycled pid is never taken for a job's."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_POLL = 0.05
"""Seconds between two looks where the system cannot tell us of a process's end."""


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process that is, or was, on this machine."""

    pid: int
    start_time: str
    """When it started, in the system's own words; differs for a later process of the same pid."""

    @property
    def alive(self) -> bool:
        """Whether it runs still (one that ended and was not collected does not)."""
        return start_time(self.pid) == self.start_time

    def send(self, signal_number: int) -> None:
        """Send a signal to the process; does nothing if it ended."""
        with _handle(self) as handle, contextlib.suppress(ProcessLookupError):
            if not self.alive:
                return
            if handle is None:
                os.kill(self.pid, signal_number)
            else:
                signal.pidfd_send_signal(handle, signal_number)

    def kill_group(self) -> None:
        """Kill a session leader with all its children."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def wait(self, timeout: float) -> bool:
        """Wait for its end, at most `timeout` seconds; whether it ended."""
        with _handle(self) as handle:
            if handle is not None:
                poller = select.poll()
                poller.register(handle, select.POLLIN)
                poller.poll(timeout * 1000 if self.alive else 0)
                return not self.alive
        deadline = time.monotonic() + timeout
        while self.alive and time.monotonic() < deadline:
            time.sleep(_POLL)
        return not self.alive


def start_time(pid: int) -> str | None:
    """When a process started, in the system's own words; None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1")
    except FileNotFoundError:
        return None if Path("/proc/self/stat").exists() else _start_time_by_ps(pid)
    except ProcessLookupError:
        return None
    # The name in brackets may hold anything; state is the 3rd field, start time the 22nd.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else f"{_boot_id()}:{fields[19]}"


def _start_time_by_ps(pid: int) -> str | None:
    shown = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, started = shown.stdout.strip().partition(" ")
    return None if not state or "Z" in state else started.strip()


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


@contextmanager
def _handle(process: ProcessId) -> Iterator[int | None]:
    """A descriptor that stays with this very process; None where the system has none."""
    if not hasattr(os, "pidfd_open"):
        yield None
        return
    try:
        handle = os.pidfd_open(process.pid)
    except OSError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)
