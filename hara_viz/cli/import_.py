"""`hara-viz import`: a training's rollout dumps as a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hara_viz.backend.import_run import ImportReport

app = typer.Typer(add_completion=False)


@app.command(name="import")
def import_(
    source: Annotated[
        Path, typer.Argument(help="A dump's file, or the folder of a training's dumps.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Directory of the run.", show_default=False)
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            help="auto, or trl, verl, prime-rl, verifiers, nemo-rl, open-instruct, skyrl, relax, "
            "roll, generic.",
        ),
    ] = "auto",
    model: Annotated[
        str | None,
        typer.Option(
            help="The policy, for its tokenizer alone; needed unless a dump has ids and text."
        ),
    ] = None,
    problems: Annotated[
        Path | None, typer.Option(help="Problem set: gold answers and exact prompts.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="question=COLUMN,gold=COLUMN", help="Of a problem set of no known layout."
        ),
    ] = None,
    threshold: Annotated[float, typer.Option(help="A reward of at least this is a success.")] = 0.5,
    revision: Annotated[str | None, typer.Option(help="Of a hub id.")] = None,
    base: Annotated[str | None, typer.Option(help="Base model of an adapter.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what the dump holds; write nothing.")
    ] = False,
) -> None:
    """Import the rollout dumps of TRL, verl, prime-rl and others, or plain JSON lines.

    Groups are rebuilt from what the dump tells; what it does not tell stays unknown. Hidden states
    come with `hara-viz states`, other rewards with `hara-viz score`.
    """
    from hara_viz.backend.import_run import ColumnMap, ImportJob, import_run, look_at
    from hara_viz.cli.progress import progress_bar

    if dry_run:
        with progress_bar() as report:
            found = look_at(source, format_, report=report)
        _print(found)
        return
    if out is None:
        raise typer.BadParameter("name the directory of the run with --out")
    job = ImportJob(
        source=source,
        out=out,
        format=format_,
        model=model,
        problems=problems,
        columns=None if columns is None else ColumnMap.parse(columns),
        success_threshold=threshold,
        revision=revision,
        base=base,
    )
    with progress_bar() as report:
        found = import_run(job, report)
    _print(found)
    typer.echo(f"{out} is complete; `hara-viz show {out}` prints it")
    if model is not None:
        typer.echo(f"`hara-viz states {out} --model {model}` fills in hidden states")


def _print(found: ImportReport) -> None:
    from hara_viz.text.terminal import plain

    for sentence in found.sentences():
        typer.echo(plain(sentence))
