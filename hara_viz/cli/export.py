"""`hara-viz export`: what can be passed on without the app."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from hara_viz.backend.credit import CreditConfig
from hara_viz.backend.runs import Run, open_run
from hara_viz.cli.config_options import read_settings, with_config_options
from hara_viz.cli.progress import progress_bar
from hara_viz.errors import InvalidInputError
from hara_viz.types import GroupKey

app = typer.Typer(add_completion=False)


class Kind(StrEnum):
    """What is written."""

    HTML = "html"
    PICTURE = "picture"
    WEIGHTS = "weights"
    GROUPS = "groups"
    ROLLOUTS = "rollouts"
    TOKENS = "tokens"
    DATASET = "dataset"


KINDS = """html: a group as one page that opens from disk. picture: its heatmap as .svg or .png.
weights: token ids with weights and advantages for a trainer, .parquet or .jsonl. groups, rollouts,
tokens: tables, .csv or .parquet. dataset: a folder for Hugging Face datasets."""


def export(
    run: Annotated[Path, typer.Argument(help="Directory of the run.", show_default=False)],
    to: Annotated[Kind, typer.Option(help=" ".join(KINDS.split()))],
    out: Annotated[
        Path, typer.Option(help="The file (or folder) to write; its end says the form.")
    ],
    problem: Annotated[
        str | None,
        typer.Option(
            help="Only this problem: its id, how the id begins, or the set's own id. Needed for "
            "html and picture.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[int | None, typer.Option(help="Only groups of this training step.")] = None,
    layer: Annotated[
        int | None, typer.Option(help="Whose states to use; the highest kept otherwise.")
    ] = None,
    shown: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            help="picture: the signal that colours it (default: novelty). html: a further signal "
            "to carry along, such as opposite; may be repeated.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    **settings: str | None,
) -> None:
    """Write what can be passed on: a page, a picture, weights for a trainer, tables, a dataset.

    Files say which run, version and credit they are of, and how to cite the method.
    """
    opened = open_run(run)
    given = read_settings(settings, CreditConfig)
    given.setdefault("success_threshold", opened.info.success_threshold)
    config = CreditConfig(**given)
    asked = _Asked(opened, to, out, problem, step, layer, config, tuple(shown or ()), force)
    if to in (Kind.HTML, Kind.PICTURE):
        _export_group(asked)
    else:
        _export_run(asked)


class _Asked(NamedTuple):
    """What is to be written, of which part of the run."""

    run: Run
    to: Kind
    out: Path
    problem: str | None
    step: int | None
    layer: int | None
    config: CreditConfig
    signals: tuple[str, ...]
    force: bool


def _export_group(asked: _Asked) -> None:
    from hara_viz.export import export_group, export_picture, group_credit_of

    run, problem, out = asked.run, asked.problem, asked.out
    if problem is None:
        raise InvalidInputError(
            f"--to {asked.to} writes one group; say which with --problem (`hara-viz show` lists "
            "them)"
        )
    options = {"global_step": asked.step, "layer": asked.layer, "config": asked.config}
    if asked.to is Kind.HTML:
        path = export_group(run, problem, out, signals=asked.signals, force=asked.force, **options)
    else:
        if len(asked.signals) > 1:
            raise InvalidInputError("a picture shows one signal; give --show once")
        found = group_credit_of(run, problem, **options)
        path = export_picture(run, found, (*asked.signals, "novelty")[0], out, force=asked.force)
    typer.echo(f"{path} holds the group ({path.stat().st_size / 1e6:.1f} MB)")


def _export_run(asked: _Asked) -> None:
    from hara_viz.export import export_dataset, export_table, export_weights

    run, to, out, config = asked.run, asked.to, asked.out, asked.config
    if asked.signals:
        raise InvalidInputError(f"--show is for html and picture; leave it out with --to {to}")
    keys = _keys(run, asked.problem, asked.step)
    if to is Kind.DATASET and keys is not None:
        raise InvalidInputError("a dataset holds the whole run; leave out --problem and --step")
    missing = 0
    with progress_bar() as report:
        options = {"layer": asked.layer, "force": asked.force, "report": report}
        if to is Kind.DATASET:
            missing = export_dataset(run, out, config, **options)
        elif to is Kind.WEIGHTS:
            missing = export_weights(run, out, config, keys=keys, **options)
        else:
            export_table(run, to.value, out, config, keys=keys, **options)
    typer.echo(f"{out} holds the {to}")
    if missing:
        typer.echo(f"{missing} rollouts have no weights; their `note` says why")


def _keys(run: Run, problem: str | None, step: int | None) -> Sequence[GroupKey] | None:
    """The groups asked for; None: all."""
    from hara_viz.backend.show import keys_of

    if problem is None and step is None:
        return None
    keys = run.keys() if problem is None else keys_of(run, problem)
    chosen = [key for key in keys if step in (None, key.global_step)]
    if not chosen:
        raise InvalidInputError(f"{run.name} has no group at training step {step}")
    return chosen


app.command()(with_config_options(export, CreditConfig))
