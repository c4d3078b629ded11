"""Streamlit apps as processes of their own, each on a free port of this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def serve(runs: Path, log: Path, *, script: str = "app.py", folder: Path = ROOT) -> Iterator[str]:
    """Start `script` in `folder`; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port),
        "--server.address", "127.0.0.1", "--server.headless", "true",
        "--browser.gatherUsageStats", "false", "--server.fileWatcherType", "none",
    ]  # fmt: skip
    environment: Mapping[str, str] = os.environ | {
        "HARA_VIZ_RUNS": str(runs),
        "HARA_VIZ_ROOTS": str(runs),
        "HARA_VIZ_JOBS": str(log.parent / "jobs"),
        "OMP_NUM_THREADS": "1",  # as `hara-viz app` sets it
    }
    with log.open("w") as out:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(address, server, log)
            yield address
        finally:
            server.terminate()
            server.wait(timeout=20)


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"no server at {address}:\n{log.read_text()[-4000:]}")
