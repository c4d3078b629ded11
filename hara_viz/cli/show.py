"""`hara-viz show`: a run in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def show(
    run: Annotated[Path, typer.Argument(help="Directory of the run.", show_default=False)],
    problem: Annotated[
        str | None,
        typer.Option(help="Only this problem: its id, how the id begins, or the set's own id."),
    ] = None,
    limit: Annotated[int, typer.Option(help="Show at most N groups; 0: all.")] = 8,
    layer: Annotated[
        int | None, typer.Option(help="Whose states to use; the highest kept otherwise.")
    ] = None,
    spans: Annotated[int, typer.Option(help="Most novel spans of each group.")] = 3,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every byte with its checksum first.")
    ] = False,
) -> None:
    """Print pass rates, advantages and the most novel spans of a run."""
    from hara_viz.backend.runs import open_run
    from hara_viz.backend.show import show_run
    from hara_viz.cli.tables import print_run
    from hara_viz.errors import FormatError, InvalidInputError

    for name, number in (("limit", limit), ("spans", spans)):
        if number < 0:
            raise InvalidInputError(f"--{name} is {number}; it must be 0 or more")
    opened = open_run(run)
    if verify:
        if not opened.complete:
            raise InvalidInputError(f"{run} is unfinished, so it has no checksums yet; finish it")
        if damages := opened.verify():
            raise FormatError(f"{run} is damaged: {'; '.join(damages)}; restore these files")
    print_run(show_run(opened, problem=problem, limit=limit or None, layer=layer, top=spans))
