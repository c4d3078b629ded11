"""`hara-viz jobs`: what runs in processes of its own, whoever started it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hara_viz.backend.jobs import Job

app = typer.Typer(invoke_without_command=True, add_completion=False)

JOBS_VARIABLE = "HARA_VIZ_JOBS"
Folder = Annotated[
    Path | None,
    typer.Option("--jobs", help=f"Folder of the jobs; else ${JOBS_VARIABLE} or ./jobs."),
]
Id = Annotated[str, typer.Argument(help="The job's id, or how it begins.", show_default=False)]


@app.callback()
def jobs(context: typer.Context, folder: Folder = None) -> None:
    """List, stop and resume jobs. A job survives whoever started it."""
    context.obj = folder or Path(os.environ.get(JOBS_VARIABLE) or "jobs")
    if context.invoked_subcommand is None:
        _list(context.obj)


@app.command(name="list")
def list_(context: typer.Context) -> None:
    """List all jobs, newest first."""
    _list(context.obj)


@app.command()
def stop(context: typer.Context, job: Id) -> None:
    """Stop a job at its next report; what it has finished stays."""
    from hara_viz.backend import jobs as backend

    stopped = backend.stop(context.obj, _whole_id(context.obj, job))
    typer.echo(f"{stopped.id} is {stopped.state}; `hara-viz jobs resume {stopped.id}` goes on")


@app.command()
def resume(context: typer.Context, job: Id) -> None:
    """Start a job that is over once more; it goes on where it stopped."""
    from hara_viz.backend import jobs as backend

    resumed = backend.resume(context.obj, _whole_id(context.obj, job))
    typer.echo(f"{resumed.id} is {resumed.state}; `hara-viz jobs` shows how far it is")


def _list(folder: Path) -> None:
    from hara_viz.backend.jobs import list_jobs
    from hara_viz.cli.tables import print_jobs

    found = list_jobs(folder)
    if found:
        print_jobs(found)
    else:
        typer.echo(f"there are no jobs in {folder}")


def _whole_id(folder: Path, beginning: str) -> str:
    """The one job whose id begins so.

    Raises:
        MissingInputError: there is none.
        InvalidInputError: there are several.
    """
    from hara_viz.backend.jobs import list_jobs
    from hara_viz.errors import InvalidInputError, MissingInputError

    fitting: list[Job] = [job for job in list_jobs(folder) if job.id.startswith(beginning)]
    if not fitting:
        raise MissingInputError(
            f"there is no job {beginning!r} in {folder}; `hara-viz jobs` lists them"
        )
    if len(fitting) > 1:
        raise InvalidInputError(
            f"{beginning!r} is the beginning of {len(fitting)} jobs; give more of the id"
        )
    return fitting[0].id
