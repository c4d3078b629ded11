"""Clocks, memory and what the machine can do: what a time must be read beside."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timing:
    """Of several runs of one call."""

    wall: float
    """Seconds, the median."""
    best: float
    """Seconds, the quickest: what a quiet machine would show."""
    cpu: float
    """Processor seconds of all threads, the least."""


def timed(call: Callable[[], T], repeats: int, device: str = "cpu") -> tuple[Timing, T]:
    """Run a call `repeats` ≥ 1 times; its last answer."""
    walls: list[float] = []
    cpus: list[float] = []
    answers: list[T] = []
    for _ in range(repeats):
        wait_for(device)
        cpu, wall = time.process_time(), time.perf_counter()
        answers[:] = [call()]
        wait_for(device)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Timing(statistics.median(walls), min(walls), min(cpus)), answers[0]


def wait_for(device: str) -> None:
    """Until a GPU has done what it was given."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def bind_threads(threads: int) -> None:
    """The same processors for every solver of the process, whatever pool it brings along."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))[:threads]
        os.sched_setaffinity(0, allowed)
    torch.set_num_threads(threads)


def calibration(device: str) -> dict[str, float]:
    """GFLOP/s of a float32 product, and GB/s of a copy out of the cache's reach."""
    a = torch.randn(1024, 1024, device=device)
    product, _ = timed(lambda: a @ a, 7, device)
    source = torch.randn(32 * 2**20, device=device)
    target = torch.empty_like(source)
    copy, _ = timed(lambda: target.copy_(source), 5, device)
    return {
        "gflops": 2 * 1024**3 / product.best / 1e9,
        "gigabytes_per_second": 2 * source.nbytes / copy.best / 1e9,
    }


def peak_beyond(call: Callable[[], T], device: str = "cpu") -> tuple[float, T]:
    """MB that the process (or the GPU) held at most beyond what it held before, and the answer."""
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        answer = call()
        return (torch.cuda.max_memory_allocated(device) - before) / 2**20, answer
    before, stop = _resident(), threading.Event()
    peak = [before]

    def watch() -> None:
        while not stop.wait(0.005):
            peak[0] = max(peak[0], _resident())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        answer = call()
    finally:
        stop.set()
        watcher.join()
    return peak[0] - before, answer


def _resident() -> float:
    """MB; NaN where the system does not say."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return float("nan")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
