"""The runs folder and the folders the app may browse and write. Pure; no Streamlit.

They come from whoever starts the app: `hara-viz app RUNS_DIR --root DIR` or
`streamlit run app.py -- RUNS_DIR --root DIR`, or the environment variables HARA_VIZ_RUNS and
HARA_VIZ_ROOTS (separated like PATH). Where none is named, new runs go to ./runs and the demo stands
beside them. Jobs lie in ./jobs, or where HARA_VIZ_JOBS says. Nothing that is typed into a page
widens them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from hara_viz.errors import MissingInputError, UnsafeError

RUNS_VARIABLE, ROOTS_VARIABLE, JOBS_VARIABLE = "HARA_VIZ_RUNS", "HARA_VIZ_ROOTS", "HARA_VIZ_JOBS"
# Beside the package in a checkout, inside it in a wheel.
_DEMO = (
    Path(__file__).parents[2] / "assets" / "demo",
    Path(__file__).parents[1] / "_app" / "assets" / "demo",
)
DEMO_PREFIX = "demo/"
"""Before the names of the demo's runs."""


@dataclass(frozen=True, slots=True)
class Roots:
    """Where runs are, and below which folders the app may look and write."""

    runs: Path
    """Where new runs go."""
    allowed: tuple[Path, ...]
    jobs: Path = Path("jobs")
    """Where `hara-viz jobs` looks, too."""
    demo: Path | None = None
    """The demo's runs, shown beside the user's own; None: not shown."""

    def run_path(self, name: str) -> Path:
        """The folder of a run.

        Raises:
            UnsafeError: the name leads out of the folders the app may use.
            MissingInputError: there is no such run.
        """
        if self.demo is not None and name.startswith(DEMO_PREFIX):
            return self.inside(self.demo / name.removeprefix(DEMO_PREFIX))
        return self.inside(self.runs / name)

    def run_name(self, path: Path) -> str | None:
        """Inverse of `run_path`; None: the folder is in neither place."""
        if path.is_relative_to(self.runs):
            return str(path.relative_to(self.runs))
        if self.demo is not None and path.is_relative_to(self.demo):
            return DEMO_PREFIX + str(path.relative_to(self.demo))
        return None

    def inside(self, path: Path) -> Path:
        """`path` with links resolved, if it lies below an allowed folder.

        Raises:
            UnsafeError: it does not.
            MissingInputError: it does not exist.
        """
        real = path.expanduser().resolve()
        if not any(real.is_relative_to(root) for root in self.allowed):
            raise UnsafeError(
                f"{path} is outside the folders this app may use; start it with "
                f"--root {real.parent} to allow it"
            )
        if not real.exists():
            raise MissingInputError(f"{path} does not exist; check the spelling")
        return real

    def folders(self, path: Path) -> tuple[Path, ...]:
        """The sub-folders of `path` that may be entered, by name; hidden ones are left out."""
        entries = (entry for entry in self.inside(path).iterdir() if entry.is_dir())
        visible = (entry for entry in entries if not entry.name.startswith("."))
        return tuple(sorted((e for e in visible if self._allows(e)), key=lambda e: e.name))

    def _allows(self, path: Path) -> bool:
        return any(path.resolve().is_relative_to(root) for root in self.allowed)


def read_roots(arguments: Sequence[str], environment: Mapping[str, str]) -> Roots:
    """The roots from the command line, else the environment, else what lies at hand."""
    given_runs, given_roots = _parsed(tuple(arguments))
    named = given_runs or environment.get(RUNS_VARIABLE)
    runs = Path(named or "runs").expanduser().resolve()
    demo = None if named else next((place for place in _DEMO if place.is_dir()), None)
    listed = given_roots or [r for r in environment.get(ROOTS_VARIABLE, "").split(os.pathsep) if r]
    allowed = [Path(root).expanduser().resolve() for root in listed] or [Path.cwd().resolve()]
    jobs = Path(environment.get(JOBS_VARIABLE) or "jobs").expanduser().resolve()
    return Roots(
        runs,
        tuple(dict.fromkeys([runs, *allowed, *([demo] if demo else [])])),
        jobs,
        demo / "runs" if demo else None,
    )


@lru_cache(maxsize=8)
def _parsed(arguments: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The runs folder and the roots that a command line names.

    Kept, since it takes most of the time of a lookup and a page looks up dozens of times. What may
    change while the app runs (environment, working directory, links, the disk) is read each time.
    """
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("runs", nargs="?")
    parser.add_argument("--root", action="append", default=[])
    given, _ = parser.parse_known_args(list(arguments))
    return given.runs, tuple(given.root)


def roots() -> Roots:
    """The roots of this process."""
    # Under a test runner or a notebook the arguments are not ours.
    ours = Path(sys.argv[0]).name == "app.py"
    arguments = tuple(sys.argv[1:]) if ours else ()
    return read_roots(arguments, os.environ)
