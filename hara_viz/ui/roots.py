"""The runs folder and the folders the app may browse and write. Pure; no Streamlit.

They come from whoever starts the app: `hara-viz app RUNS_DIR --root DIR` or
`streamlit run app.py -- RUNS_DIR --root DIR`, or the environment variables HARA_VIZ_RUNS and
HARA_VIZ_ROOTS (separated like PATH). Jobs lie in ./jobs, or where HARA_VIZ_JOBS says. Nothing that
is typed into a page widens them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hara_viz.errors import MissingInputError, UnsafeError

RUNS_VARIABLE, ROOTS_VARIABLE, JOBS_VARIABLE = "HARA_VIZ_RUNS", "HARA_VIZ_ROOTS", "HARA_VIZ_JOBS"
# Beside the package in a checkout, inside it in a wheel.
_DEMO = (
    Path(__file__).parents[2] / "assets" / "demo" / "runs",
    Path(__file__).parents[1] / "_app" / "assets" / "demo" / "runs",
)


@dataclass(frozen=True, slots=True)
class Roots:
    """Where runs are, and below which folders the app may look and write."""

    runs: Path
    allowed: tuple[Path, ...]
    jobs: Path = Path("jobs")
    """Where `hara-viz jobs` looks, too."""

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
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("runs", nargs="?")
    parser.add_argument("--root", action="append", default=[])
    given, _ = parser.parse_known_args(list(arguments))
    named = given.runs or environment.get(RUNS_VARIABLE)
    runs = Path(named).expanduser().resolve() if named else _runs_at_hand()
    listed = given.root or [r for r in environment.get(ROOTS_VARIABLE, "").split(os.pathsep) if r]
    allowed = [Path(root).expanduser().resolve() for root in listed] or [Path.cwd().resolve()]
    jobs = Path(environment.get(JOBS_VARIABLE) or "jobs").expanduser().resolve()
    return Roots(runs, tuple(dict.fromkeys([runs, *allowed])), jobs)


def _runs_at_hand() -> Path:
    places = (Path.cwd() / "runs", *_DEMO)
    return next((place for place in places if place.is_dir()), places[0]).resolve()


def roots() -> Roots:
    """The roots of this process."""
    # Under a test runner or a notebook the arguments are not ours.
    ours = Path(sys.argv[0]).name == "app.py"
    arguments = tuple(sys.argv[1:]) if ours else ()
    return read_roots(arguments, os.environ)
