"""Importing as a verb: all or nothing, as a job, then read, scored and credited like any run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hara_viz.backend import import_run as module
from hara_viz.backend import jobs
from hara_viz.backend.credit import credit_group
from hara_viz.backend.import_run import REPORT, ImportJob, import_run, is_imported, look_at
from hara_viz.backend.job_calls import import_arguments, import_job
from hara_viz.backend.score import score_run
from hara_viz.backend.states import fill_states
from hara_viz.credit import CreditConfig
from hara_viz.errors import HaraError, InvalidInputError, StoreError
from hara_viz.problems import ColumnMap
from hara_viz.store import list_runs, open_run
from hara_viz.types import Progress
from tests.importers.dumps import OTHER, QUESTION, RIGHT, WRONG, trl_group, write_lines, write_trl


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    for step in (1, 2):
        rows = [*trl_group(QUESTION, [1, 0, 0]), *trl_group(OTHER, [0, 1, 0])]
        write_trl(tmp_path / "dump", step, [{**row, "solution": "42"} for row in rows])
    return tmp_path / "dump"


def test_an_imported_run_is_a_run(dump: Path, tmp_path: Path, tiny_policy_dir: Path) -> None:
    out, seen = tmp_path / "runs" / "a", []
    model = str(tiny_policy_dir)
    report = import_run(ImportJob(source=dump, out=out, model=model), seen.append)
    assert {progress.stage for progress in seen} == {"reading", "writing"}
    assert seen[-1] == Progress(stage="writing", done=12, total=12, unit="rollouts")
    (listed,) = list_runs(tmp_path / "runs")
    assert (listed.n_rollouts, listed.n_groups, listed.pass_rate) == (12, 4, 4 / 12)
    run = open_run(out)
    assert run.info.series is not None and run.info.series.id == "a"
    assert run.info.global_step is None and run.info.training is None
    assert run.info.checkpoint is not None and run.info.checkpoint.fingerprint == ""
    assert json.loads((out / REPORT).read_text())["found"] == json.loads(
        json.dumps(report.to_json())
    )
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["a"]

    reader = fill_states(run, model, device="cpu").checkpoint
    run = open_run(out)
    assert run.layers == (reader.n_layers,)
    key = run.keys()[0]
    assert run.load_states(key, reader.n_layers) is not None
    credited = credit_group(run, key, CreditConfig(), reader.n_layers)
    own = [rollout.recorded_advantage for rollout in run.load_group(key).rollouts]
    assert credited.credit.baseline.tolist() == pytest.approx(own), "the trainer's own A_r"
    score_run(run, "number")
    scored = [rollout.reward for rollout in open_run(out).load_group(key).rollouts]
    assert len(scored) == 3 and None not in scored


def test_another_tokenizer_may_not_read_it(
    dump: Path, tmp_path: Path, tiny_policy_dir: Path
) -> None:
    from tests.tiny_models import write_tiny_checkpoint

    out = tmp_path / "run"
    import_run(ImportJob(source=dump, out=out, model=str(tiny_policy_dir)))
    other = write_tiny_checkpoint(tmp_path / "other", bos=True)
    with pytest.raises(InvalidInputError, match="another tokenizer"):
        fill_states(open_run(out), str(other), device="cpu")


class Halt(BaseException):
    """As Ctrl-C and the stop of a job come: out of a report."""


@pytest.mark.parametrize("stage", ["reading", "writing"])
def test_a_stopped_import_leaves_nothing(
    dump: Path, tmp_path: Path, tiny_policy_dir: Path, stage: str
) -> None:
    def halt(progress: Progress) -> None:
        if progress.stage == stage and progress.done > 0:
            raise Halt

    job = ImportJob(source=dump, out=tmp_path / "new" / "runs" / "a", model=str(tiny_policy_dir))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Halt):
        import_run(job, halt if stage == "writing" else _halt_at_once)
    assert sorted(tmp_path.rglob("*")) == before
    import_run(job)
    assert is_imported(job)


def _halt_at_once(progress: Progress) -> None:
    if progress.stage == "reading":
        raise Halt


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model": None}, "--model"),
        ({"format": "verl"}, "verl"),
        ({"format": "nonsense"}, "choose auto or one of trl, verl"),
        ({"format": "openrlhf"}, "writes no rollouts"),
        ({"format": "slime"}, "pickles"),
        ({"problems": Path("none.jsonl")}, "none.jsonl"),
        ({"model": "nowhere/at-all/x"}, "nowhere"),
    ],
)
def test_a_failed_import_leaves_nothing(
    dump: Path, tmp_path: Path, tiny_policy_dir: Path, change: dict, says: str
) -> None:
    fields = {"model": str(tiny_policy_dir), **change}
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(HaraError, match=says):
        import_run(ImportJob(source=dump, out=tmp_path / "runs" / "a", **fields))
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_overwritten(dump: Path, tmp_path: Path, tiny_policy_dir: Path) -> None:
    out = tmp_path / "runs" / "a"
    job = ImportJob(source=dump, out=out, model=str(tiny_policy_dir))
    import_run(job)
    stamp = (out / "run.json").stat().st_mtime_ns
    with pytest.raises(InvalidInputError, match="is a run already"):
        import_run(job)
    (tmp_path / "busy").mkdir()
    (tmp_path / "busy" / "thesis.tex").write_text("dear to me")
    with pytest.raises(InvalidInputError, match="there already"):
        import_run(ImportJob(source=dump, out=tmp_path / "busy", model=job.model))
    assert (out / "run.json").stat().st_mtime_ns == stamp
    (tmp_path / "empty").mkdir()
    import_run(ImportJob(source=dump, out=tmp_path / "empty", model=job.model))
    assert open_run(tmp_path / "empty").complete


def test_two_imports_to_one_place_do_not_mix(
    dump: Path, tmp_path: Path, tiny_policy_dir: Path
) -> None:
    job = ImportJob(source=dump, out=tmp_path / "a", model=str(tiny_policy_dir))

    def second(progress: Progress) -> None:
        with pytest.raises(StoreError, match="already being written"):
            import_run(job)

    import_run(job, second)
    assert open_run(tmp_path / "a").complete


def test_parts_are_bounded_and_hold_one_step(
    tmp_path: Path, tiny_policy_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PART_GROUPS", 2)
    rows = [
        {"prompt": f"p{p}", "completion": c, "reward": r, "step": step}
        for step in (1, 2)
        for p in range(3)
        for c, r in ((RIGHT, 1), (WRONG, 0))
    ]
    path = write_lines(tmp_path / "dump.jsonl", rows)
    import_run(ImportJob(source=path, out=tmp_path / "run", model=str(tiny_policy_dir)))
    run = open_run(tmp_path / "run")
    found = [[group.key.global_step for group in run.load_part(part)] for part in run.parts]
    assert found == [[1, 1], [1], [2, 2], [2]]


def test_a_threshold_that_tells_nothing_apart_is_told(
    tmp_path: Path, tiny_policy_dir: Path
) -> None:
    rows = [{"prompt": "p", "completion": c, "reward": r} for c, r in (("a", -1), ("b", 0.2))]
    path = write_lines(tmp_path / "dump.jsonl", rows)
    model = str(tiny_policy_dir)
    report = import_run(ImportJob(source=path, out=tmp_path / "a", model=model))
    assert any("between -1 and 0.2" in warning for warning in report.warnings)
    job = ImportJob(source=path, out=tmp_path / "b", model=model, success_threshold=0.0)
    assert not any("threshold" in warning for warning in import_run(job).warnings)


def test_arguments_survive_the_way_through_json(tmp_path: Path) -> None:
    job = ImportJob(
        source=tmp_path / "s", out=tmp_path / "o", model="org/m", problems=tmp_path / "p",
        columns=ColumnMap(question="q"), roots=(tmp_path,), success_threshold=0.25,
    )  # fmt: skip
    assert import_job(json.loads(json.dumps(import_arguments(job)))) == job


def test_as_a_job(dump: Path, tmp_path: Path, tiny_policy_dir: Path) -> None:
    job = ImportJob(source=dump, out=tmp_path / "run", model=str(tiny_policy_dir))
    folder = tmp_path / "jobs"
    name = jobs.start("import", import_arguments(job), folder)
    _wait(lambda: jobs.read_job(folder, name).state.over)
    done = jobs.read_job(folder, name)
    assert (done.state, done.result) == ("done", str(tmp_path / "run")), done.error
    assert done.device is None, "a tokenizer needs none"
    (listed,) = list_runs(tmp_path / "run")
    assert listed.n_rollouts == look_at(dump).n_rollouts
    jobs.resume(folder, name)  # as after a kill between the last step and the word that it is done
    _wait(
        lambda: jobs.read_job(folder, name).attempts == 2 and jobs.read_job(folder, name).state.over
    )
    assert jobs.read_job(folder, name).state == "done"


@pytest.mark.slow
def test_what_a_killed_import_left_is_cleared(tmp_path: Path, tiny_policy_dir: Path) -> None:
    rows = [
        {"prompt": f"p{i}", "completion": f"{RIGHT} {j}", "reward": j} for i in range(2000)
        for j in range(2)
    ]  # fmt: skip
    path = write_lines(tmp_path / "dump.jsonl", rows)
    out = tmp_path / "runs" / "a"
    command = [sys.executable, "-m", "hara_viz.cli", "import", str(path), "--out", str(out),
               "--model", str(tiny_policy_dir)]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    staged = tmp_path / "runs" / ".a.importing" / "a" / "rollouts"
    _wait(lambda: staged.is_dir() and any(staged.glob("part-*.parquet")))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not out.exists() and staged.exists()
    assert list_runs(tmp_path / "runs") == ()
    import_run(ImportJob(source=path, out=out, model=str(tiny_policy_dir)))
    assert sorted(entry.name for entry in (tmp_path / "runs").iterdir()) == ["a"]
    assert len(open_run(out).keys()) == 2000


def _wait(condition, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
