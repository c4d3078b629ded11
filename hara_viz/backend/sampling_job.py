"""What `sample` is asked to do, and all that can be checked of it before a model is loaded.

Nothing is written here: a job that cannot work leaves no trace.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from hara_viz.backend.state_choice import StateChoice
from hara_viz.credit import CreditConfig
from hara_viz.errors import FormatError, InvalidInputError
from hara_viz.problems import ColumnMap, ProblemSet, load_problems
from hara_viz.rewards import RewardPool
from hara_viz.types import Progress, Report, SamplingConfig, Series, ignore_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleJob:
    """One call of `sample`: which policy, which problems, how, and where to."""

    model: str
    """A directory, a GGUF file or a hub id."""
    problems: Path
    out: Path
    """The run's directory."""
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    columns: ColumnMap | None = None
    """Which columns hold question, answer, …; None: found by the format."""
    limit: int | None = None
    """Only the first `limit` problems."""
    layers: tuple[int, ...] = (-1,)
    """Whose hidden states are kept; negative ones count from the last."""
    states: str = "all"
    """Whose rollouts' states are kept: see `StateChoice`."""
    project: int | None = None
    """Dimensions of a random projection of the states; None: as they are."""
    reward: str = "math"
    allow_code: bool = False
    """Let `reward` be a function in a Python file; the command line only."""
    success_threshold: float = 0.5
    credit: CreditConfig | None = field(default_factory=CreditConfig)
    """Credit that is computed and kept at the end; None: none is."""
    device: str = "auto"
    dtype: str = "auto"
    revision: str | None = None
    base: str | None = None
    """The base model of an adapter, if not the one that its config names."""
    roots: tuple[Path, ...] | None = None
    """Folders in which a base that an adapter names must lie; None: anywhere."""
    trust_remote_code: bool = False
    allow_pickle: bool = False
    """Read pickled weights, as tensors alone; the command line only."""
    resume: bool = True
    """Go on with a run that exists; False refuses it."""
    global_step: int | None = None
    series: Series | None = None


@dataclass(frozen=True, slots=True)
class CheckedJob:
    """A job whose inputs were read and found usable."""

    job: SampleJob
    problem_set: ProblemSet
    states: StateChoice
    first_gold: str | None
    """What the verifier understood of the first gold answer; None: the set has none."""


def check_job(job: SampleJob, pool: RewardPool, report: Report = ignore_progress) -> CheckedJob:
    """Read and check everything but the model; `pool` reads the gold answers.

    Raises:
        MissingInputError: a file does not exist.
        InvalidInputError: an option is out of range, or the place for the run cannot be used.
        FormatError: the problem set or a gold answer cannot be read.
    """
    states = StateChoice.parse(job.states)
    if job.limit is not None and job.limit < 1:
        raise InvalidInputError(f"limit is {job.limit}; it must be at least 1 problem")
    if not job.layers:
        raise InvalidInputError("no layer was named; choose at least one, for instance -1")
    _check_place(job.out, resume=job.resume)
    problem_set = load_problems(job.problems, columns=job.columns, limit=job.limit)
    first_gold = _check_golds(pool, problem_set, report)
    return CheckedJob(job, problem_set, states, first_gold)


def _check_golds(pool: RewardPool, problem_set: ProblemSet, report: Report) -> str | None:
    """Let the verifier read every gold answer; returns what it understood of the first."""
    first: str | None = None
    total = len(problem_set.problems)
    for number, problem in enumerate(problem_set.problems):
        if number % 100 == 0 and total > 100:
            report(Progress(stage="golds", done=number, total=total, unit="answers"))
        if problem.gold is None:
            continue
        try:
            understood = pool.parsed_gold(problem.gold)
        except FormatError as error:
            name = problem.source_id or f"number {number + 1}"
            raise FormatError(
                f"the gold answer of problem {name} cannot be read: {error}"
            ) from error
        first = understood if first is None else first
    return first


def _check_place(out: Path, *, resume: bool) -> None:
    """Refuse a place that the writer would refuse too, but before minutes of loading."""
    if out.is_dir():
        # A run killed before its header was written holds hidden files only.
        entries = [path.name for path in out.iterdir() if not path.name.startswith(".")]
        if entries and "run.json" not in entries:
            raise InvalidInputError(
                f"{out} is a directory with other things in it; name a new one for the run"
            )
        if entries and not resume:
            raise InvalidInputError(
                f"{out} holds a run already; leave out --no-resume to go on with it, or name "
                "another directory"
            )
        return
    if out.exists():
        raise InvalidInputError(f"{out} is a file; name a directory for the run")
    nearest = next(parent for parent in out.absolute().parents if parent.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
        raise InvalidInputError(f"{nearest} cannot be written to; name another place for the run")
