"""`hara-viz annotate`: put a verdict right, bookmark, note; or list what was said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hara_viz.backend.runs import Run
    from hara_viz.types import GroupKey

app = typer.Typer(add_completion=False)


@app.command()
def annotate(
    run: Annotated[Path, typer.Argument(help="Directory of the run.", show_default=False)],
    problem: Annotated[
        str | None, typer.Option(help="The group: its problem's id, or how it begins.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="A rollout of the group; else the group as a whole.")
    ] = None,
    reward: Annotated[
        float | None, typer.Option(help="The reward that the rollout should have had.")
    ] = None,
    bookmark: Annotated[bool, typer.Option("--bookmark", help="Find it again.")] = False,
    note: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A note, or the reason for a reward.")
    ] = None,
    undo: Annotated[str | None, typer.Option(metavar="ID", help="Take back what was said.")] = None,
) -> None:
    """Say something about a rollout or group; without options, list what was said."""
    from hara_viz.backend.annotations import Kind, annotate_group, take_back
    from hara_viz.backend.runs import open_run
    from hara_viz.cli.tables import print_annotations

    opened = open_run(run)
    if undo is not None:
        take_back(opened, undo)
    elif reward is not None:
        key = _key(opened, problem)
        annotate_group(opened, Kind.VERDICT, key, sample=sample, reward=reward, text=note)
    elif bookmark:
        annotate_group(opened, Kind.BOOKMARK, _key(opened, problem), sample=sample, text=note)
    elif note is not None:
        annotate_group(opened, Kind.NOTE, _key(opened, problem), sample=sample, text=note)
    said = open_run(run).annotations.active
    if said:
        print_annotations(said)
    else:
        typer.echo(f"nothing was said about {run}; --problem with --note, --bookmark or --reward")


def _key(run: Run, problem: str | None) -> GroupKey:
    """The one group whose problem id begins so.

    Raises:
        InvalidInputError: none was named, or several begin so.
        MissingInputError: there is none.
    """
    from hara_viz.errors import InvalidInputError, MissingInputError

    if problem is None:
        raise InvalidInputError("which group is meant? name it with --problem")
    fitting = [key for key in run.keys() if key.problem_id.startswith(problem)]  # noqa: SIM118
    if not fitting:
        raise MissingInputError(
            f"{run.name} has no problem {problem!r}; `hara-viz show` lists them"
        )
    if len(fitting) > 1:
        raise InvalidInputError(
            f"{problem!r} is the beginning of {len(fitting)} groups; give more of the id"
        )
    return fitting[0]
