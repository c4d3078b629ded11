"""`hara-viz credit`: every field of `CreditConfig` is an option, read off the class."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hara_viz.backend.credit import CreditConfig, credit_run
from hara_viz.backend.runs import open_run
from hara_viz.cli.config_options import read_settings, with_config_options
from hara_viz.cli.kept import say_how_to_go_on
from hara_viz.cli.progress import progress_bar

app = typer.Typer(add_completion=False)


def credit(
    run: Annotated[Path, typer.Argument(help="Directory of the run.", show_default=False)],
    layer: Annotated[
        int | None, typer.Option(help="Whose states to use; the highest kept otherwise.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="Fingerprint of the checkpoint whose states to use, as `states` prints it; the "
            "run's own otherwise."
        ),
    ] = None,
    **settings: str | None,
) -> None:
    """Compute token-level credit of a run and keep it. No model is needed."""
    given = read_settings(settings, CreditConfig)
    opened = open_run(run)
    given.setdefault("success_threshold", opened.info.success_threshold)
    with say_how_to_go_on("the groups computed so far"), progress_bar() as report:
        fingerprint = credit_run(opened, CreditConfig(**given), layer, report, source=source)
    typer.echo(f"credit {fingerprint} is kept in {run}")


app.command()(with_config_options(credit, CreditConfig))
