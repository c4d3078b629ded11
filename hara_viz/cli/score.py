"""`hara-viz score`: judge a run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def score(
    run: Annotated[Path, typer.Argument(help="Directory of the run.", show_default=False)],
    reward: Annotated[
        str,
        typer.Option(help="math, number, exact, choice, regex:…, a weighted sum, or file.py:name."),
    ],
) -> None:
    """Judge a run again with another reward; the old verdicts are kept."""
    from hara_viz.backend.runs import open_run
    from hara_viz.backend.score import score_run
    from hara_viz.cli.kept import say_how_to_go_on
    from hara_viz.cli.progress import progress_bar

    opened = open_run(run)
    with say_how_to_go_on("the parts judged so far"), progress_bar() as report:
        version = score_run(opened, reward, report, allow_code=True)
    typer.echo(f"{run} has the rewards {version}; `hara-viz show {run}` prints them")
