"""`sample` and `credit` killed with -9 ten times in a row: nothing lost, drawn twice or torn.

A child runs the verb and kills itself at a chosen event: a progress report, or the moment before
some file gets its final name. Python's audit hooks see every rename, so the moments cover each kind
of commit of the run, not just those that a timer happens to hit.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from hara_viz.backend.credit import credit_run
from hara_viz.backend.sample import SampleJob, sample_run
from hara_viz.store import list_credit, load_credit, open_run
from hara_viz.types import Progress, Report, RolloutGroup, SamplingConfig

pytestmark = pytest.mark.slow

PROBLEMS = Path(__file__).parents[1] / "data" / "word_problems.jsonl"
N_PROBLEMS, GROUP_SIZE = 8, 2

Moment = tuple[Literal["rename", "report"], int]
# Each attempt goes a little further than what the one before it left.
MOMENTS: tuple[Moment, ...] = (
    ("report", 1), ("report", 3), ("rename", 1), ("rename", 2), ("rename", 3), ("rename", 4),
    ("rename", 5), ("rename", 6), ("report", 2), ("rename", 3),
)  # fmt: skip

# Children with everything imported already, forked from a process without threads or locks.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["transformers", "hara_viz.backend.sample"])

Verb = Callable[[Path, Path, Report], object]


def sample(model: Path, out: Path, report: Report) -> None:
    sampling = SamplingConfig(group_size=GROUP_SIZE, max_new_tokens=6, seed=5, deterministic=True)
    job = SampleJob(
        model=str(model),
        problems=PROBLEMS,
        out=out,
        limit=N_PROBLEMS,
        sampling=sampling,
        reward="number",
        device="cpu",
    )
    sample_run(job, report)


def credit(_: Path, out: Path, report: Report) -> None:
    credit_run(open_run(out), report=report)


def child(verb: Verb, model: Path, out: Path, moment: Moment | None) -> None:
    """Run the verb, but die at a moment."""
    counts = {"rename": 0, "report": 0}

    def event(kind: Literal["rename", "report"]) -> None:
        counts[kind] += 1
        if moment == (kind, counts[kind]):
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(name: str, arguments: tuple[object, ...]) -> None:
        if name == "os.rename" and str(arguments[1]).startswith(str(out)):
            event("rename")

    def report(progress: Progress) -> None:
        event("report")

    sys.addaudithook(hook)
    verb(model, out, report)


def run(verb: Verb, model: Path, out: Path, moment: Moment | None = None) -> None:
    process = CONTEXT.Process(target=child, args=(verb, model, out, moment))
    process.start()
    process.join(300)
    assert process.exitcode == (0 if moment is None else -signal.SIGKILL)


def groups_of(out: Path) -> dict[str, RolloutGroup]:
    opened = open_run(out)
    keys = opened.keys()
    assert len(keys) == len(set(keys))
    return {key.problem_id: opened.load_group(key) for key in keys}


@pytest.fixture(scope="module")
def whole(tiny_policy_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody killed."""
    out = tmp_path_factory.mktemp("whole") / "run"
    run(sample, tiny_policy_dir, out)
    return out


def test_sample_goes_on_after_each_kill(whole: Path, tiny_policy_dir: Path, tmp_path: Path) -> None:
    expected, out = groups_of(whole), tmp_path / "run"
    kept: dict[str, RolloutGroup] = {}
    written: dict[Path, int] = {}
    for moment in MOMENTS:
        run(sample, tiny_policy_dir, out, moment)
        # What is there can be read, is what nobody killed has, and is never written again.
        now = groups_of(out) if (out / "run.json").exists() else {}
        assert kept.items() <= now.items() <= expected.items()
        parts = {path: path.stat().st_mtime_ns for path in out.glob("rollouts/part-*.parquet")}
        assert written.items() <= parts.items()
        kept, written = now, parts
    assert 0 < len(kept) < N_PROBLEMS, "the kills hit only one end of the job"
    run(sample, tiny_policy_dir, out)
    opened = open_run(out)
    assert opened.complete and not opened.verify() and not opened.warnings()
    # Seeds hold across kills: the run is the one that nobody killed.
    assert groups_of(out) == expected
    keys = opened.keys()
    assert all(opened.load_states(key, 2) is not None for key in keys)
    assert not [path for path in out.rglob("*") if "tmp" in path.name]


def test_credit_goes_on_after_each_kill(whole: Path, tiny_policy_dir: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(whole, tmp_path / "run"))
    expected = credit_of(out)
    assert all(credit is not None for credit in expected.values())
    shutil.rmtree(out / "credit")
    for moment in MOMENTS:
        run(credit, tiny_policy_dir, out, moment)
        assert groups_of(out) == groups_of(whole)
    assert any(found is None for found in credit_of(out).values())
    run(credit, tiny_policy_dir, out)
    assert credit_of(out) == expected


def credit_of(out: Path) -> dict[str, list[float] | None]:
    """The advantages that a run keeps, by problem; None where there are none yet."""
    opened = open_run(out)
    (info,) = list_credit(opened)
    keys = opened.keys()
    found = {key.problem_id: load_credit(opened, info.fingerprint, key) for key in keys}
    return {n: None if c is None else c.advantages.tolist() for n, c in found.items()}
