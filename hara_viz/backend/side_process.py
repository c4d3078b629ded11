"""One helper process beside the app, for what takes a second to a minute: UMAP, exact FGW.

The app stays responsive, numba compiles once, and what runs can be stopped. Unlike a job it does
not outlive the app and leaves nothing on disk. (multiprocessing would start the app's own script
anew in the child, so the pipe is laid here.)
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hara_viz
from hara_viz.errors import HaraError, InvalidInputError
from hara_viz.types import Progress

__all__ = ["SideProcess"]

_WORKER = "hara_viz.backend.side_worker"
# Small matrices gain nothing from threads, and on a busy machine threads that wait for each other
# cost a hundred times what they save.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class SideProcess:
    """Runs module-level functions one after the other in a process of its own."""

    def __init__(self) -> None:
        self._feeder = ThreadPoolExecutor(max_workers=1, thread_name_prefix="side-process")
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self.progress: Progress | None = None
        """What the call that runs last said; functions with a parameter `report` say something."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Queue a call; function, arguments and result travel by pickle.

        The future raises what the function raised, if that is one of our errors, and
        `InvalidInputError` if the call was stopped.
        """
        target = f"{function.__module__}:{function.__qualname__}"
        return self._feeder.submit(self._call, target, arguments)

    def stop(self) -> None:
        """End the call that runs; the ones behind it go on in a new process."""
        with self._lock:
            if self._process is not None:
                self._process.kill()

    def close(self) -> None:
        """End the process and take no more calls."""
        self._feeder.shutdown(wait=False, cancel_futures=True)
        self.stop()

    def _call(self, target: str, arguments: tuple[Any, ...]) -> Any:
        process = self._running()
        self.progress = None
        assert process.stdin is not None and process.stdout is not None
        try:
            pickle.dump((target, arguments), process.stdin)
            process.stdin.flush()
            kind, answer = pickle.load(process.stdout)
            while kind == "progress":
                self.progress = answer
                kind, answer = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            process.kill()
            process.wait()
            raise InvalidInputError(
                "the computation was stopped before it had finished; start it again"
            ) from error
        if kind == "error":
            raise answer if isinstance(answer, HaraError) else RuntimeError(answer)
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                root = str(Path(hara_viz.__file__).parents[1])
                paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", _WORKER],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)},
                )
            return self._process
