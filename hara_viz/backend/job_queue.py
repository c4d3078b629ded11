"""One job per device: a fair queue of locked tickets, without a server and without polling.

Whoever starts a job draws the next number and locks its ticket; the worker inherits the locked
descriptor and keeps it until it ends, however it ends. It may go to work once it has been able to
lock every lower ticket. The kernel wakes waiters and frees the tickets of the dead.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
from pathlib import Path

from hara_viz.errors import InvalidInputError
from hara_viz.store.lock import turn

_FOLDER = ".devices"


def resolve_device(name: str) -> str:
    """The device that a name such as "auto" or "cuda:1" stands for, without opening it.

    Raises:
        InvalidInputError: It is no device's name.
    """
    if name == "auto":
        if Path("/dev/nvidia0").exists():
            return "cuda:0"
        is_mac = platform.system() == "Darwin" and platform.machine() == "arm64"
        return "mps" if is_mac else "cpu"
    if not re.fullmatch(r"[a-z]+(:\d+)?", name):
        raise InvalidInputError(f"device is {name!r}; expected auto, cpu, mps, cuda or cuda:1")
    return "cuda:0" if name == "cuda" else name


def draw_ticket(jobs_dir: Path, device: str) -> tuple[Path, int]:
    """Take the last place in a device's queue.

    Returns:
        The ticket's path and its locked descriptor: pass it to the worker, then close it.
    """
    import fcntl

    folder = jobs_dir / _FOLDER / device
    folder.mkdir(parents=True, exist_ok=True)
    with turn(folder / ".turn"):
        ticket = folder / str(max(_tickets(folder), default=-1) + 1)
        descriptor = os.open(ticket, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return ticket, descriptor


def wait_for_turn(ticket: Path) -> None:
    """Wait until all lower tickets are free; what a signal's handler raises ends the wait."""
    import fcntl

    for number in sorted(n for n in _tickets(ticket.parent) if n < int(ticket.name)):
        earlier = ticket.parent / str(number)
        try:
            descriptor = os.open(earlier, os.O_RDWR)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        finally:
            os.close(descriptor)
        earlier.unlink(missing_ok=True)  # its holder is done or dead


def keep_ticket(descriptor: int) -> None:
    """Keep an inherited ticket to this process: its children must not hold the device."""
    os.set_inheritable(descriptor, False)

    ours = [descriptor]

    def close() -> None:
        # Once: to a child's own children the number may mean another file.
        while ours:
            with contextlib.suppress(OSError):
                os.close(ours.pop())

    os.register_at_fork(after_in_child=close)


def _tickets(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir() if path.name.isdecimal()]
