"""`sample` and `credit` killed with -9 at many moments: nothing lost, drawn twice or torn.

A child runs the verb and kills itself at a chosen event: a progress report, or the moment before
some file gets its final name. Python's audit hooks see every rename, so the moments cover each
commit of the run, not just those that a timer happens to hit.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from hara_viz.backend.credit import credit_run
from hara_viz.backend.sample import SampleJob, sample_run
from hara_viz.store import open_run
from hara_viz.types import Progress, Report, RolloutGroup, SamplingConfig

pytestmark = pytest.mark.slow

PROBLEMS = Path(__file__).parents[1] / "data" / "word_problems.jsonl"
N_PROBLEMS, GROUP_SIZE, N_MOMENTS = 4, 2, 10

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


def child(connection: Connection, verb: Verb, model: Path, out: Path, moment: int) -> None:
    """Run the verb, but die at event number `moment`; send how many events there were."""
    count = 0

    def event() -> None:
        nonlocal count
        count += 1
        if count == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(name: str, arguments: tuple[object, ...]) -> None:
        if name == "os.rename" and str(arguments[1]).startswith(str(out)):
            event()

    def report(progress: Progress) -> None:
        event()

    sys.addaudithook(hook)
    verb(model, out, report)
    connection.send(count)


def run(verb: Verb, model: Path, out: Path, moment: int = 0) -> int | None:
    """The number of events of a whole run; None if the child died at `moment`."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=child, args=(theirs, verb, model, out, moment))
    process.start()
    theirs.close()
    process.join(120)
    if moment:
        assert process.exitcode in (0, -signal.SIGKILL)
    else:
        assert process.exitcode == 0
    return ours.recv() if process.exitcode == 0 else None


def groups_of(out: Path) -> dict[str, RolloutGroup]:
    opened = open_run(out)
    keys = opened.keys()
    assert len(keys) == len(set(keys))
    return {key.problem_id: opened.load_group(key) for key in keys}


def moments(n_events: int) -> list[int]:
    """Spread over the whole run, the first and the last event among them."""
    return sorted({1 + round(i * (n_events - 1) / (N_MOMENTS - 1)) for i in range(N_MOMENTS)})


@pytest.fixture(scope="module")
def whole(tiny_policy_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A run that nobody killed, and how many events it saw."""
    out = tmp_path_factory.mktemp("whole") / "run"
    n_events = run(sample, tiny_policy_dir, out)
    assert n_events is not None and n_events > N_MOMENTS
    return out, n_events


def test_sample_goes_on_after_each_kill(
    whole: tuple[Path, int], tiny_policy_dir: Path, tmp_path: Path
) -> None:
    expected, n_events = groups_of(whole[0]), whole[1]
    for moment in moments(n_events):
        out = tmp_path / f"killed-{moment}"
        assert run(sample, tiny_policy_dir, out, moment) is None
        # Whatever is there now can be read, and was paid for: it must not be drawn again.
        kept = groups_of(out) if (out / "run.json").exists() else {}
        parts = {p: p.stat().st_mtime_ns for p in out.glob("rollouts/part-*.parquet")}
        run(sample, tiny_policy_dir, out)
        assert all(path.stat().st_mtime_ns == when for path, when in parts.items())
        opened = open_run(out)
        assert opened.complete and not opened.verify()
        keys, after = opened.keys(), groups_of(out)
        assert len(keys) == N_PROBLEMS
        assert all(after[name] == group for name, group in kept.items())
        # Seeds hold across a kill: the run is the one that nobody killed.
        assert after == expected
        assert all(opened.load_states(key, 2) is not None for key in keys)
        assert not [p for p in out.rglob("*") if "tmp" in p.name]


def test_credit_goes_on_after_each_kill(
    whole: tuple[Path, int], tiny_policy_dir: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(whole[0], bare)
    shutil.rmtree(bare / "credit")
    n_events = run(credit, tiny_policy_dir, shutil.copytree(bare, tmp_path / "counted"))
    assert n_events is not None
    expected = credit_files(tmp_path / "counted")
    assert expected
    for moment in moments(n_events):
        out = Path(shutil.copytree(bare, tmp_path / f"killed-{moment}"))
        assert run(credit, tiny_policy_dir, out, moment) is None
        assert groups_of(out) == groups_of(bare)
        run(credit, tiny_policy_dir, out)
        assert credit_files(out) == expected


def credit_files(out: Path) -> set[str]:
    files = {str(p.relative_to(out / "credit")) for p in (out / "credit").rglob("*") if p.is_file()}
    return {name for name in files if not Path(name).name.startswith(".")}
