"""`hara-viz app`: Streamlit, listening on this machine alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from hara_viz.errors import InvalidInputError, MissingInputError

app = typer.Typer(add_completion=False)

PACKAGE = Path(__file__).parents[1]
# Beside the package in a checkout, inside it in a wheel.
PLACES = (PACKAGE.parent / "app.py", PACKAGE / "_app" / "app.py")


@app.command(name="app")
def run_app(
    runs: Annotated[
        Path | None,
        typer.Argument(help="The folder that holds the runs; else ./runs, and the demo beside it."),
    ] = None,
    port: Annotated[int, typer.Option(help="Where the app listens.")] = 8501,
    root: Annotated[
        list[Path] | None,
        typer.Option(help="A folder that the app may browse and write; may be repeated."),
    ] = None,
) -> None:
    """Start the app and print its address. It listens on this machine only."""
    command = command_line(runs, port, root or ())
    # The app solves small groups; where the machine is busy (a job samples beside it), threads that
    # wait for each other turn tenths of a second into seconds.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.stdout.flush()
    os.execv(command[0], command)  # Streamlit handles Ctrl-C itself


def command_line(runs: Path | None, port: int, roots: Sequence[Path]) -> list[str]:
    """The process that serves the app.

    Raises:
        InvalidInputError: the port is out of range, or a folder is a file.
        MissingInputError: a folder, Streamlit or the app's pages are not there.
    """
    if not 0 < port < 65536:
        raise InvalidInputError(f"--port is {port}; it must be from 1 to 65535")
    folders = ([runs] if runs is not None else []) + list(roots)
    for folder in folders:
        if not folder.exists():
            raise MissingInputError(f"there is no folder {folder}; make it, or name another")
        if not folder.is_dir():
            raise InvalidInputError(f"{folder} is a file; name a folder")
    if find_spec("streamlit") is None:
        raise MissingInputError("the app needs Streamlit; install it: pip install 'hara-viz[app]'")
    script = next((place for place in PLACES if place.exists()), None)
    if script is None:
        raise MissingInputError("app.py is missing from this installation; install hara-viz again")
    streamlit = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = [f"--server.port={port}", "--server.address=127.0.0.1"]
    own = [] if runs is None else [str(runs.resolve())]
    for folder in roots:
        own += ["--root", str(folder.resolve())]
    return [*streamlit, *options, "--", *own]
