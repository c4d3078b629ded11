"""Which devices a job may use, without opening one: asks the driver's tool, never torch.

A process that opens a GPU keeps memory on it; the app must not.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from dataclasses import dataclass

_QUERY = ("--query-gpu=index,name,memory.free,memory.total", "--format=csv,noheader,nounits")
_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Device:
    """A device as a list of choices shows it."""

    name: str
    """As `load_policy` takes it: "auto", "cpu", "cuda:0", "mps"."""
    label: str


def list_devices() -> tuple[Device, ...]:
    """The devices of this machine, "auto" first."""
    found = [Device("auto", "auto: the best there is")]
    found += parse_gpus(_nvidia_smi())
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        found.append(Device("mps", "mps: Apple GPU"))
    return (*found, Device("cpu", "cpu"))


def parse_gpus(report: str) -> list[Device]:
    """Lines of `nvidia-smi` (index, name, free and total MiB) as devices; others are left out."""
    devices: list[Device] = []
    for line in report.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != 4 or not cells[0].isdigit():
            continue
        index, name, *memory = cells
        try:
            free, total = (float(mib) / 1024 for mib in memory)
        except ValueError:  # "[N/A]": the memory is shared with the machine
            devices.append(Device(f"cuda:{index}", f"cuda:{index}: {name}"))
            continue
        label = f"cuda:{index}: {name}, {free:.0f} of {total:.0f} GiB free"
        devices.append(Device(f"cuda:{index}", label))
    return devices


def _nvidia_smi() -> str:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, *_QUERY], capture_output=True, text=True, timeout=_TIMEOUT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
