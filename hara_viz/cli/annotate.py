"""`hara-viz annotate`: put a verdict right, bookmark, note; or list what was said."""

from __future__ import annotations

from collections.abc import Sequence
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
    step: Annotated[
        int | None, typer.Option(help="The training step, if the problem has groups at several.")
    ] = None,
    group: Annotated[
        int | None, typer.Option(help="The group's number, if a step has several of the problem.")
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
    kind = Kind.VERDICT if reward is not None else Kind.BOOKMARK if bookmark else Kind.NOTE
    if undo is not None:
        take_back(opened, undo)
    elif kind is not Kind.NOTE or note is not None:
        key = _key(opened, problem, step, group)
        annotate_group(opened, kind, key, sample=sample, reward=reward, text=note)
    said = open_run(run).annotations.active
    if said:
        print_annotations(said)
    else:
        typer.echo(f"nothing was said about {run}; --problem with --note, --bookmark or --reward")


def _key(run: Run, problem: str | None, step: int | None, group: int | None) -> GroupKey:
    """The one group that is meant.

    Raises:
        InvalidInputError: none was named, or several are meant.
        MissingInputError: there is none.
    """
    from hara_viz.backend.show import keys_of
    from hara_viz.errors import InvalidInputError, MissingInputError

    if problem is None:
        raise InvalidInputError("which group is meant? name it with --problem")
    known = keys_of(run, problem)
    fitting = [k for k in known if step in (None, k.global_step) and group in (None, k.group)]
    if not fitting:
        raise MissingInputError(
            f"{run.name} has no such group of problem {problem!r}; it has {_places(known)}"
        )
    if len(fitting) > 1:
        raise InvalidInputError(
            f"problem {problem!r} of {run.name} has {len(fitting)} groups, {_places(fitting)}; say "
            "which with --step and --group"
        )
    return fitting[0]


def _places(keys: Sequence[GroupKey]) -> str:
    """Where groups of a problem stand, the first few of them."""
    found = [
        f"group {key.group}"
        if key.global_step is None
        else f"step {key.global_step} group {key.group}"
        for key in keys
    ]
    return ", ".join([*found[:4], *(["…"] if len(found) > 4 else [])])
