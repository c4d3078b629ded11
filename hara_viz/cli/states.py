"""`hara-viz states`: read a run with a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def states(
    run: Annotated[Path, typer.Argument(help="Directory of the run.", show_default=False)],
    model: Annotated[
        str,
        typer.Option(help="Who reads: the run's own checkpoint, or another of the same family."),
    ],
    layers: Annotated[
        str, typer.Option(help="Layers whose states are kept: -1, 12,24, or none.")
    ] = "-1",
    states_of: Annotated[
        str, typer.Option("--states", help="Whose states are kept: all, mixed, sample:N or none.")
    ] = "all",
    project: Annotated[
        int | None, typer.Option(help="Keep a random projection of this size instead.")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")] = "auto",
    dtype: Annotated[str, typer.Option(help="auto, bfloat16, float32, float16.")] = "auto",
    revision: Annotated[str | None, typer.Option(help="Of a hub id.")] = None,
    base: Annotated[str | None, typer.Option(help="Base model of an adapter.")] = None,
    trust_remote_code: Annotated[
        bool,
        typer.Option("--trust-remote-code", help="Run code that comes with the checkpoint."),
    ] = False,
    allow_pickle: Annotated[
        bool,
        typer.Option(
            "--allow-pickle",
            help="Read pytorch_model.bin where there is no safetensors, as tensors alone.",
        ),
    ] = False,
) -> None:
    """Fill in hidden states and log-probabilities, or compare with another checkpoint."""
    from hara_viz.backend.runs import open_run
    from hara_viz.backend.states import fill_states
    from hara_viz.cli.kept import say_how_to_go_on
    from hara_viz.cli.progress import progress_bar
    from hara_viz.cli.values import whole_numbers

    chosen = () if layers == "none" else whole_numbers("layers", layers)
    opened = open_run(run)
    with say_how_to_go_on("the parts read so far"), progress_bar() as report:
        filled = fill_states(
            opened,
            model,
            chosen,
            states=states_of,
            project=project,
            device=device,
            dtype=dtype,
            revision=revision,
            base=base,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            report=report,
        )
    reader, unread = filled.checkpoint, filled.unread
    typer.echo(f"{run} was read by {reader.path} ({reader.fingerprint[:8]})")
    if unread:
        n_groups = len({key for key, _ in unread})
        typer.echo(
            f"{len(unread)} rollouts were left out: with their prompts they are longer than the "
            f"{filled.most} tokens that it reads; no states are kept of their {n_groups} groups"
        )
