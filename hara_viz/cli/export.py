"""`hara-viz export`: what can be passed on without the app."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


class Kind(StrEnum):
    """What is written."""

    HTML = "html"


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="Directory of the run.", show_default=False)],
    to: Annotated[Kind, typer.Option(help="html: a group as one page that opens from disk.")],
    problem: Annotated[str, typer.Option(help="Its id, how the id begins, or the set's own id.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    step: Annotated[
        int | None, typer.Option(help="Which training step's group; the first otherwise.")
    ] = None,
    layer: Annotated[
        int | None, typer.Option(help="Whose states to use; the highest kept otherwise.")
    ] = None,
    signal: Annotated[
        list[str] | None,
        typer.Option(help="A further signal to carry along, such as opposite; may be repeated."),
    ] = None,
) -> None:
    """Write a group as one self-contained HTML file: the app's heatmap, without a server."""
    from hara_viz.backend.runs import open_run
    from hara_viz.export import export_group

    path = export_group(
        open_run(run), problem, out, global_step=step, layer=layer, signals=signal or ()
    )
    typer.echo(f"{path} holds the group ({path.stat().st_size / 1e6:.1f} MB)")
