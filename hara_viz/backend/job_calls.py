"""The verbs as jobs call them: plain data in, plain data out.

A job runs no foreign code: own reward functions and a checkpoint's own modelling code are for the
command line, where a person names them; a job's arguments may come from a page or a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hara_viz.backend.credit import credit_run
from hara_viz.backend.exact import check_exact
from hara_viz.backend.import_run import ImportJob, import_run, is_imported
from hara_viz.backend.sample import sample_run
from hara_viz.backend.sampling_job import SampleJob
from hara_viz.backend.score import score_run
from hara_viz.backend.states import fill_states
from hara_viz.credit import CreditConfig
from hara_viz.errors import UnsafeError
from hara_viz.problems import ColumnMap
from hara_viz.store import open_run
from hara_viz.types import Message, Report, SamplingConfig, Series

_FOREIGN_CODE = ("allow_code", "trust_remote_code", "allow_pickle")


def sample(report: Report, **arguments: Any) -> str:
    """`sample_run` of a job in plain data; returns the run's directory."""
    for name in _FOREIGN_CODE:
        if arguments.get(name):
            raise UnsafeError(f"{name} is on, and jobs run no foreign code; use `hara-viz sample`")
    return str(sample_run(sample_job(arguments), report))


def states(
    report: Report, *, run: str, model: str, layers: Sequence[int] = (-1,), **options: Any
) -> str:
    """`fill_states`; returns the fingerprint of the checkpoint that read."""
    for name in _FOREIGN_CODE:
        if options.get(name):
            raise UnsafeError(f"{name} is on, and jobs run no foreign code; use `hara-viz states`")
    if options.get("roots") is not None:
        options["roots"] = [Path(root) for root in options["roots"]]
    filled = fill_states(open_run(run), model, tuple(layers), report=report, **options)
    return filled.checkpoint.fingerprint


def import_dumps(report: Report, **arguments: Any) -> str:
    """`import_run` of a job in plain data; returns the run's directory."""
    job = import_job(arguments)
    if not is_imported(job):  # a job that was stopped right after its last step
        import_run(job, report)
    return str(job.out)


def score(report: Report, *, run: str, reward: str) -> str:
    """`score_run`; returns the version's name."""
    return score_run(open_run(run), reward, report)


def credit(
    report: Report,
    *,
    run: str,
    config: Mapping[str, Any] | None = None,
    layer: int | None = None,
    source: str | None = None,
) -> str:
    """`credit_run`; returns the credit's fingerprint."""
    chosen = None if config is None else CreditConfig.from_json(json.dumps(config))
    return credit_run(open_run(run), chosen, layer, report, source=source)


def exact(
    report: Report,
    *,
    run: str,
    key: Sequence[Any],
    config: Mapping[str, Any],
    layer: int | None = None,
) -> dict[str, Any]:
    """`check_exact` of one group; returns the comparison."""
    step, problem, number = key
    return check_exact(run, (step, problem, number), json.dumps(config), layer, report).to_plain()


def sample_arguments(job: SampleJob) -> dict[str, Any]:
    """A job's fields as plain data."""
    values = {n: str(v) if isinstance(v, Path) else v for n, v in asdict(job).items()}
    values["roots"] = None if job.roots is None else [str(root) for root in job.roots]
    return values


def import_arguments(job: ImportJob) -> dict[str, Any]:
    """A job's fields as plain data."""
    values = {n: str(v) if isinstance(v, Path) else v for n, v in asdict(job).items()}
    values["roots"] = None if job.roots is None else [str(root) for root in job.roots]
    return values


def import_job(arguments: Mapping[str, Any]) -> ImportJob:
    """Inverse of `import_arguments`, after a way through JSON."""
    values = dict(arguments)
    for name in ("source", "out", "problems"):
        if values.get(name) is not None:
            values[name] = Path(values[name])
    if values.get("columns") is not None:
        values["columns"] = ColumnMap(**values["columns"])
    if values.get("roots") is not None:
        values["roots"] = tuple(Path(root) for root in values["roots"])
    return ImportJob(**values)


def sample_job(arguments: Mapping[str, Any]) -> SampleJob:
    """Inverse of `sample_arguments`, after a way through JSON."""
    values = dict(arguments)
    for name in ("problems", "out"):
        values[name] = Path(values[name])
    if "sampling" in values:
        sampling = dict(values["sampling"])
        sampling["stop"] = tuple(sampling.get("stop", ()))
        sampling["few_shot"] = tuple(Message(*turn) for turn in sampling.get("few_shot", ()))
        values["sampling"] = SamplingConfig(**sampling)
    if values.get("credit") is not None:
        values["credit"] = CreditConfig.from_json(json.dumps(values["credit"]))
    if values.get("columns") is not None:
        values["columns"] = ColumnMap(**values["columns"])
    if values.get("series") is not None:
        values["series"] = Series(**values["series"])
    if values.get("roots") is not None:
        values["roots"] = tuple(Path(root) for root in values["roots"])
    if "layers" in values:
        values["layers"] = tuple(values["layers"])
    return SampleJob(**values)
