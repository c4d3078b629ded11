"""`hara-viz compare`: checkpoints and methods on the same problems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    runs: Annotated[
        list[Path], typer.Argument(help="Directories of runs, in any order.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="Also write a report, one HTML file.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a report that is there.")] = False,
    k: Annotated[
        int | None, typer.Option(help="Of pass@k and distinct answers; the largest otherwise.")
    ] = None,
    solved: Annotated[
        str, typer.Option(help="A problem is solved if half, any or all of its rollouts are right.")
    ] = "half",
    tokens: Annotated[
        bool,
        typer.Option(
            "--tokens", help="Also novelty, drift of barycenters, credit methods and patterns."
        ),
    ] = False,
) -> None:
    """Compare runs on the same problems: curves, paired tests, what became of each problem."""
    from hara_viz.backend.compare_report import compare_runs
    from hara_viz.backend.runs import open_run
    from hara_viz.cli.compare_tables import print_comparison
    from hara_viz.cli.progress import progress_bar
    from hara_viz.errors import InvalidInputError

    if solved not in ("half", "any", "all"):
        raise InvalidInputError(f"--solved is {solved!r}; it must be half, any or all")
    if out is not None:
        from hara_viz.export.place import check_place

        check_place(out, force=force)
    opened = [open_run(run) for run in dict.fromkeys(runs)]
    with progress_bar() as report:
        found = compare_runs(opened, k=k, rule=solved, tokens=tokens, report=report)  # pyright: ignore[reportArgumentType]
    print_comparison(found)
    if out is not None:
        from hara_viz.export.report import write_report

        typer.echo(f"the report is {write_report(found, out, force=force)}")
