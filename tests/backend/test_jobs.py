"""Jobs are real processes here: started, stopped, killed, resumed, queued."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from hara_viz.backend.job_queue import resolve_device
from hara_viz.backend.job_record import append_event, read_events, read_process
from hara_viz.backend.jobs import (
    Job,
    JobState,
    Verb,
    list_jobs,
    read_job,
    resume,
    start,
    stop,
)
from hara_viz.backend.processes import ProcessId, start_time
from hara_viz.errors import InvalidInputError, MissingInputError, StoreError
from hara_viz.types import Progress
from tests.backend import job_actions

ROOT = Path(__file__).parents[2]
ACTIONS = "tests.backend.job_actions"
NAMES = (
    "count", "refuse", "break_down", "leave", "be_deaf", "shoot_oneself", "terminate_child",
)  # fmt: skip
VERBS = {name: Verb(f"{ACTIONS}:{name}") for name in NAMES}
VERBS |= {name: Verb(f"{ACTIONS}:{name}", uses_device=True) for name in ("mark", "fork_and_leave")}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder of jobs; none of them outlives the test."""
    yield tmp_path
    for job in list_jobs(tmp_path):
        process = read_process(job.directory)
        if process is not None:
            process.kill_group()


def begin(folder: Path, verb: str, **arguments: Any) -> str:
    return start(verb, arguments, folder, verbs=VERBS)


def until(folder: Path, job_id: str, holds: Callable[[Job], bool], timeout: float = 60) -> Job:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        job = read_job(folder, job_id)
        if holds(job):
            return job
        time.sleep(0.05)
    raise AssertionError(f"still {read_job(folder, job_id)}")


def ended(folder: Path, job_id: str) -> Job:
    return until(folder, job_id, lambda job: job.state.over)


def reporting(folder: Path, job_id: str) -> Job:
    return until(folder, job_id, lambda job: job.last is not None)


def process_of(job: Job) -> ProcessId:
    process = read_process(job.directory)
    assert process is not None
    return process


def test_a_job_from_beginning_to_end(folder: Path) -> None:
    out = folder / "numbers"
    job_id = begin(folder, "count", n=3, pause=0.3, out=str(out), real=True)
    job = read_job(folder, job_id)
    assert job.state is JobState.QUEUED and job.ended is None
    job = ended(folder, job_id)
    assert (job.state, job.error, job.result, job.attempts) == ("done", None, str(out), 1)
    assert (job.verb, job.arguments["pause"], job.arguments["out"]) == ("count", 0.3, str(out))
    assert job.started is not None and job.ended is not None
    assert job.created <= job.started < job.ended
    last = job.last
    assert last is not None
    assert (last.progress.stage, last.progress.done, last.progress.total) == ("counting", 3, 3)
    assert last.progress.unit == "numbers" and last.progress.figures["last"] == 2
    assert last.progress.figures["odd"] != last.progress.figures["odd"]
    names = [event["event"] for event in read_events(job.directory)]
    assert names[:2] == ["queued", "started"] and names[-1] == "done"
    reports = [event for event in read_events(job.directory) if event["event"] == "progress"]
    first, second, *_ = reports
    assert (first["done"], first["rate"], first["seconds_left"]) == (0, None, None)
    assert second["done"] == 1
    assert second["seconds_left"] == pytest.approx(2 / second["rate"])
    seconds = reports[-1]["time"] - first["time"]
    assert last.rate == pytest.approx(3 / seconds, rel=0.1) and last.seconds_left == 0
    assert list_jobs(folder) == (job,)
    assert "NaN" not in (job.directory / "events.jsonl").read_text()


def test_the_actions_report_what_verbs_report() -> None:
    assert [f.name for f in fields(job_actions.Progress)] == [f.name for f in fields(Progress)]


def test_failures_say_why_in_one_sentence(folder: Path) -> None:
    ids = [begin(folder, verb) for verb in ("refuse", "break_down", "leave", "shoot_oneself")]
    refused, broken, left, killed = (ended(folder, job_id) for job_id in ids)
    assert refused.state is JobState.FAILED
    assert refused.error == "temperature is -1; it must be 0 or more"
    assert broken.state is JobState.FAILED and broken.error is not None
    assert broken.error.startswith("RuntimeError: first line (") and "output.log" in broken.error
    assert "second line" in (broken.directory / "output.log").read_text()
    assert left.state is JobState.FAILED and "SystemExit: 7" in (left.error or "")
    assert (killed.state, killed.error) == (JobState.LOST, None)


def test_stop_and_resume(folder: Path) -> None:
    out = folder / "numbers"
    job_id = begin(folder, "count", n=40, pause=0.1, out=str(out))
    until(folder, job_id, lambda job: job.last is not None and job.last.progress.done > 1)
    with pytest.raises(InvalidInputError, match="is running; stop it"):
        resume(folder, job_id, verbs=VERBS)
    job = stop(folder, job_id)
    assert job.state is JobState.STOPPED
    assert "killed" not in read_events(job.directory)[-1]  # it stopped by itself
    done = len(out.read_text().splitlines())
    assert 0 < done < 40
    assert stop(folder, job_id) == job  # once more changes nothing
    job = resume(folder, job_id, verbs=VERBS)
    assert (job.state, job.attempts, job.last) == (JobState.QUEUED, 2, None)
    job = ended(folder, job_id)
    assert (job.state, job.attempts) == (JobState.DONE, 2)
    assert out.read_text().splitlines() == [str(n) for n in range(40)]
    first = next(
        e for e in read_events(job.directory) if e["event"] == "progress" and e["attempt"] == 2
    )
    assert first["done"] == done and first["rate"] is None  # not credited with earlier work


def test_kill_minus_nine_and_resume(folder: Path) -> None:
    out = folder / "numbers"
    job_id = begin(folder, "count", n=10, pause=0.1, out=str(out))
    job = until(folder, job_id, lambda job: out.exists())
    os.kill(process_of(job).pid, signal.SIGKILL)
    job = ended(folder, job_id)
    assert (job.state, job.ended) == (JobState.LOST, None)
    resume(folder, job_id, verbs=VERBS)
    assert ended(folder, job_id).state is JobState.DONE
    assert out.read_text().splitlines() == [str(n) for n in range(10)]


def test_a_job_that_does_not_listen_is_killed_with_its_children(folder: Path) -> None:
    job_id = begin(folder, "be_deaf")
    job = reporting(folder, job_id)
    assert job.last is not None
    child = job.last.progress.done
    assert start_time(child) is not None
    assert job.last.progress.total is None and job.last.seconds_left is None
    job = stop(folder, job_id, grace=0.3)
    assert job.state is JobState.STOPPED
    assert read_events(job.directory)[-1]["killed"]
    assert ProcessId(child, start_time(child) or "gone").wait(5)


def test_a_job_survives_its_parent(folder: Path) -> None:
    code = f"""
import os, sys
from hara_viz.backend.jobs import Verb, start
verbs = {{"count": Verb("{ACTIONS}:count")}}
print(start("count", {{"n": 8, "pause": 0.1}}, sys.argv[1], verbs=verbs), flush=True)
os.killpg(0, 9)
"""
    parent = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    assert parent.returncode == -signal.SIGKILL
    job = ended(folder, parent.stdout.strip())
    assert job.state is JobState.DONE
    assert job.last is not None and job.last.progress.done == 8


def test_a_recycled_pid_is_not_taken_for_the_job(folder: Path) -> None:
    job_id = begin(folder, "count", n=1)
    job = ended(folder, job_id)
    with subprocess.Popen(["sleep", "60"]) as stranger:
        # As if the job had died and its number had been given to another process.
        pid = {"pid": stranger.pid, "start_time": process_of(job).start_time}
        (job.directory / "pid").write_text(json.dumps(pid))
        append_event(job.directory, "started", 2, started=1.0)
        assert read_job(folder, job_id).state is JobState.LOST
        recycled = ProcessId(stranger.pid, process_of(job).start_time)
        recycled.send(signal.SIGKILL)
        recycled.kill_group()
        assert recycled.wait(0) and not recycled.alive
        assert stranger.poll() is None
        stranger.kill()


def test_an_ended_process_that_nobody_collected_is_not_alive() -> None:
    zombie = subprocess.Popen(["true"])
    started = start_time(zombie.pid)
    deadline = time.monotonic() + 10
    while start_time(zombie.pid) is not None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not ProcessId(zombie.pid, started or "x").alive
    zombie.wait()
    assert start_time(os.getpid()) == start_time(os.getpid()) is not None


def test_workers_of_a_verb_die_of_sigterm(folder: Path) -> None:
    job = ended(folder, begin(folder, "terminate_child"))
    assert job.result == -signal.SIGTERM


def test_one_job_at_a_time_on_a_device_in_the_order_of_their_start(folder: Path) -> None:
    log = folder / "log"

    def mark(name: str, device: str) -> str:
        return begin(folder, "mark", name=name, log=str(log), pause=0.5, device=device)

    ids = [mark(name, "cuda") for name in "abc"]
    other = mark("x", "cuda:1")
    until(folder, ids[0], lambda job: job.state is JobState.RUNNING)
    assert read_job(folder, ids[2]).state is JobState.QUEUED
    jobs = [ended(folder, job_id) for job_id in [*ids, other]]
    assert [job.device for job in jobs] == ["cuda:0"] * 3 + ["cuda:1"]
    lines = [line for line in log.read_text().splitlines() if line[0] != "x"]
    assert lines == [f"{name} {word}" for name in "abc" for word in ("begin", "end")]
    assert {job.state for job in jobs} == {JobState.DONE}


def test_the_queue_moves_on_when_those_ahead_are_stopped_or_killed(folder: Path) -> None:
    log = folder / "log"
    ids = [
        begin(folder, "mark", name=name, log=str(log), pause=pause, device="cpu")
        for name, pause in (("a", 60), ("b", 60), ("c", 60), ("d", 0))
    ]
    until(folder, ids[0], lambda job: log.exists())
    stopped = stop(folder, ids[1])  # while it waits
    assert stopped.state is JobState.STOPPED and stopped.started is None
    os.kill(process_of(read_job(folder, ids[2])).pid, signal.SIGKILL)
    time.sleep(0.3)
    assert read_job(folder, ids[3]).state is JobState.QUEUED  # the first still runs
    os.kill(process_of(read_job(folder, ids[0])).pid, signal.SIGKILL)
    assert ended(folder, ids[3]).state is JobState.DONE
    assert log.read_text().splitlines() == ["a begin", "d begin", "d end"]


def test_a_child_that_outlives_its_job_does_not_hold_the_device(folder: Path) -> None:
    first = ended(folder, begin(folder, "fork_and_leave", device="cpu"))
    try:
        assert ended(folder, begin(folder, "fork_and_leave", device="cpu")).state == "done"
    finally:
        for job in list_jobs(folder):
            os.kill(job.result, signal.SIGKILL)
    assert first.state is JobState.DONE


@pytest.mark.slow
def test_waiting_costs_no_time(folder: Path) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("reads the processor time of a process from /proc")
    log = folder / "log"
    first, second = (
        begin(folder, "mark", name=n, log=str(log), pause=60, device="cpu") for n in "ab"
    )
    until(folder, first, lambda job: log.exists())
    time.sleep(1)  # the second has begun to wait by now
    stat = Path(f"/proc/{process_of(read_job(folder, second)).pid}/stat")

    def ticks() -> int:
        fields = stat.read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    until(folder, second, lambda _: stat.read_text().rpartition(")")[2].split()[0] == "S")
    before = ticks()
    time.sleep(1)
    assert ticks() - before <= 2


def test_what_cannot_be_started(folder: Path) -> None:
    with pytest.raises(InvalidInputError, match="no verb 'fly'; choose one of count"):
        begin(folder, "fly")
    with pytest.raises(InvalidInputError, match="must be plain data"):
        begin(folder, "count", n=object())
    with pytest.raises(InvalidInputError, match=r"device is '\.\./x'"):
        begin(folder, "mark", device="../x")
    (folder / "file").write_text("")
    with pytest.raises(StoreError, match="could not be made"):
        begin(folder / "file", "count")
    assert list_jobs(folder) == ()
    assert list_jobs(folder / "nowhere") == ()


def test_jobs_that_are_none(folder: Path) -> None:
    job_id = begin(folder, "count", n=1)
    job = ended(folder, job_id)
    for name in ("nope", "../x", "", job_id + "/..", "."):
        with pytest.raises(MissingInputError, match="there is no job"):
            read_job(folder, name)
    (folder / "notes").mkdir()
    assert list_jobs(folder) == (job,)
    with (job.directory / "events.jsonl").open("ab") as file:
        file.write(b'{"time": 1, "ev')  # torn
    assert read_job(folder, job_id) == job
    (job.directory / "job.json").write_text("{")
    (damaged,) = list_jobs(folder)
    assert damaged.state is JobState.LOST and "damaged" in (damaged.error or "")
    with pytest.raises(InvalidInputError):
        resume(folder, job_id, verbs=VERBS)


def test_the_code_of_a_resumed_job_comes_from_the_registry(folder: Path) -> None:
    job_id = begin(folder, "count", n=1)
    job = ended(folder, job_id)
    file = job.directory / "job.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"verb": "os:system"}))
    with pytest.raises(InvalidInputError, match="unknown verb 'os:system'"):
        resume(folder, job_id, verbs=VERBS)


def test_a_long_stream_is_read_from_its_end(folder: Path) -> None:
    job_id = begin(folder, "count", n=1)
    job = ended(folder, job_id)
    stream = job.directory / "events.jsonl"
    progress, done = stream.read_bytes().splitlines(keepends=True)[-2:]
    stream.write_bytes(progress * 200_000 + done)
    began = time.process_time()
    assert read_job(folder, job_id) == job
    assert time.process_time() - began < 0.2


def test_a_list_of_jobs_needs_no_torch() -> None:
    code = (
        "import sys, hara_viz.backend.jobs, hara_viz.backend.job_worker as w; print([*sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"'torch'", "'pyarrow'", "'pandas'"} & set(shown.stdout.strip("[]\n").split(", "))


def test_names_of_devices() -> None:
    assert resolve_device("cuda") == resolve_device("cuda:0") == "cuda:0"
    assert resolve_device("cpu") == "cpu"
    assert resolve_device("auto") in ("cpu", "mps", "cuda:0")
