"""`hara-viz sample`: options in, one `SampleJob` out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from hara_viz.backend.sample import Preview, SampleJob
    from hara_viz.types import Series

app = typer.Typer(add_completion=False)

WHAT = "What to sample"
HOW = "How to sample"
JUDGE = "How to judge"
KEEP = "What to keep"
MODEL = "Loading the model"


@app.command()
def sample(
    model: Annotated[
        str,
        typer.Option(help="A checkpoint: directory, .gguf file or hub id.", rich_help_panel=WHAT),
    ],
    problems: Annotated[
        Path, typer.Option(help="JSONL, JSON, CSV or Parquet file.", rich_help_panel=WHAT)
    ],
    out: Annotated[Path, typer.Option(help="Directory of the run.", rich_help_panel=WHAT)],
    limit: Annotated[
        int | None, typer.Option(help="Only the first N problems.", rich_help_panel=WHAT)
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="question=COLUMN,gold=COLUMN",
            help="Which columns hold what, where the layout is not a known one.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show the first prompt, the gold answer and the counts; draw nothing.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    group_size: Annotated[
        int, typer.Option(help="Rollouts of each problem.", rich_help_panel=HOW)
    ] = 8,
    max_new_tokens: Annotated[int, typer.Option(rich_help_panel=HOW)] = 512,
    temperature: Annotated[float, typer.Option(help="0: greedy.", rich_help_panel=HOW)] = 1.0,
    top_p: Annotated[float, typer.Option(rich_help_panel=HOW)] = 1.0,
    top_k: Annotated[int, typer.Option(help="0: off.", rich_help_panel=HOW)] = 0,
    min_p: Annotated[float, typer.Option(rich_help_panel=HOW)] = 0.0,
    repetition_penalty: Annotated[float, typer.Option(rich_help_panel=HOW)] = 1.0,
    stop: Annotated[
        list[str] | None,
        typer.Option(help="A text that ends a rollout; may be repeated.", rich_help_panel=HOW),
    ] = None,
    system: Annotated[
        str | None, typer.Option(metavar="TEXT", help="System prompt.", rich_help_panel=HOW)
    ] = None,
    few_shot: Annotated[
        Path | None,
        typer.Option(help="JSON or JSONL of turns put before each problem.", rich_help_panel=HOW),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Argument of the chat template, for instance enable_thinking=false.",
            rich_help_panel=HOW,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(rich_help_panel=HOW)] = 0,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            help="One batch shape for all: equal seeds draw bit-equal, but slower.",
            rich_help_panel=HOW,
        ),
    ] = False,
    reward: Annotated[
        str, typer.Option(help="math, number, exact, …, or a sum.", rich_help_panel=JUDGE)
    ] = "math",
    threshold: Annotated[
        float, typer.Option(help="A reward of at least this is a success.", rich_help_panel=JUDGE)
    ] = 0.5,
    layers: Annotated[
        str,
        typer.Option(help="Layers whose states are kept: -1, or 12,24.", rich_help_panel=KEEP),
    ] = "-1",
    states: Annotated[
        str, typer.Option(help="all, mixed, sample:N or none.", rich_help_panel=KEEP)
    ] = "all",
    project: Annotated[
        int | None,
        typer.Option(help="Keep a random projection of this size.", rich_help_panel=KEEP),
    ] = None,
    credit: Annotated[
        bool,
        typer.Option(help="Compute and keep credit at the end.", rich_help_panel=KEEP),
    ] = True,
    resume: Annotated[
        bool, typer.Option(help="Go on with a run that exists.", rich_help_panel=KEEP)
    ] = True,
    global_step: Annotated[
        int | None,
        typer.Option(help="Training step of the checkpoint.", rich_help_panel=KEEP),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The training that the checkpoint belongs to; runs of one name are a series.",
            rich_help_panel=KEEP,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="How that training assigned credit, for show.", rich_help_panel=KEEP),
    ] = None,
    device: Annotated[
        str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.", rich_help_panel=MODEL)
    ] = "auto",
    dtype: Annotated[
        str, typer.Option(help="auto, bfloat16, float32, float16.", rich_help_panel=MODEL)
    ] = "auto",
    revision: Annotated[
        str | None, typer.Option(help="Of a hub id.", rich_help_panel=MODEL)
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="Base model of an adapter.", rich_help_panel=MODEL)
    ] = None,
    trust_remote_code: Annotated[
        bool,
        typer.Option(
            "--trust-remote-code",
            help="Run Python code that comes with the checkpoint.",
            rich_help_panel=MODEL,
        ),
    ] = False,
    allow_pickle: Annotated[
        bool,
        typer.Option(
            "--allow-pickle",
            help="Read pytorch_model.bin where there is no safetensors, as tensors alone.",
            rich_help_panel=MODEL,
        ),
    ] = False,
) -> None:
    """Sample grouped rollouts from a checkpoint, verify them, keep their states.

    The same command goes on where it was stopped, and draws nothing twice.
    """
    values = dict(locals())
    job = _job(values)
    if dry_run:
        _preview(job)
    else:
        _sample(job)


def _job(values: dict[str, Any]) -> SampleJob:
    from hara_viz.backend.few_shot import read_few_shot
    from hara_viz.backend.sampling_job import ColumnMap, CreditConfig, SampleJob
    from hara_viz.cli.values import pairs, typed, whole_numbers
    from hara_viz.types import SamplingConfig

    few_shot, columns = values["few_shot"], values["columns"]
    sampling = SamplingConfig(
        group_size=values["group_size"],
        max_new_tokens=values["max_new_tokens"],
        temperature=values["temperature"],
        top_p=values["top_p"],
        top_k=values["top_k"],
        min_p=values["min_p"],
        repetition_penalty=values["repetition_penalty"],
        stop=tuple(values["stop"] or ()),
        system=values["system"],
        few_shot=() if few_shot is None else read_few_shot(few_shot),
        template_kwargs={k: typed(v) for k, v in pairs("template", values["template"]).items()},
        seed=values["seed"],
        deterministic=values["deterministic"],
    )
    same = ("model", "problems", "out", "limit", "states", "reward", "device", "dtype", "revision",
            "base", "project", "trust_remote_code", "allow_pickle", "resume",
            "global_step")  # fmt: skip
    return SampleJob(
        sampling=sampling,
        columns=None if columns is None else ColumnMap.parse(columns),
        layers=whole_numbers("layers", values["layers"]),
        success_threshold=values["threshold"],
        credit=CreditConfig(success_threshold=values["threshold"]) if values["credit"] else None,
        series=_series(values["series"], values["method"]),
        allow_code=True,  # named on the command line by whoever owns the machine
        **{name: values[name] for name in same},
    )


def _series(name: str | None, method: str | None) -> Series | None:
    from hara_viz.errors import InvalidInputError
    from hara_viz.types import Series

    if name is None and method is not None:
        raise InvalidInputError("--method describes a series; name it with --series")
    return None if name is None else Series(id=name, method=method)


def _sample(job: SampleJob) -> None:
    from hara_viz.backend.sample import sample_run
    from hara_viz.cli.kept import say_what_is_kept
    from hara_viz.cli.progress import progress_bar

    with say_what_is_kept(job.out), progress_bar() as report:
        sample_run(job, report)
    typer.echo(f"{job.out} is complete; `hara-viz show {job.out}` prints it")


def _preview(job: SampleJob) -> None:
    from hara_viz.backend.sample import preview
    from hara_viz.cli.progress import progress_bar
    from hara_viz.cli.tables import print_preview

    with progress_bar() as report:
        found: Preview = preview(job, report)
    print_preview(found, job)
