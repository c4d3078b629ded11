"""Jobs: any verb as a process of its own, which survives whoever started it.

`jobs/<id>/` holds `job.json` (verb, arguments, device), `pid`, `events.jsonl` (queued, started,
progress, then done, failed or stopped) and `output.log`. There is no server: state is what these
files and the process table say, so command line and app see the same jobs.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hara_viz
from hara_viz.backend.job_queue import draw_ticket, resolve_device
from hara_viz.backend.job_record import (
    OUTPUT,
    Job,
    JobProgress,
    JobState,
    append_event,
    damaged_job,
    job_directory,
    read_events,
    read_process,
    read_working_directory,
    write_job,
    write_process,
)
from hara_viz.backend.job_record import read_job as _read_job
from hara_viz.backend.job_verbs import VERBS, Verb
from hara_viz.backend.processes import ProcessId, start_time
from hara_viz.errors import FormatError, InvalidInputError, MissingInputError, StoreError
from hara_viz.store.lock import turn
from hara_viz.store.text_json import to_json

__all__ = [
    "VERBS",
    "Job",
    "JobProgress",
    "JobState",
    "Verb",
    "list_jobs",
    "read_events",
    "read_job",
    "resume",
    "start",
    "stop",
]

_WORKER = "hara_viz.backend.job_worker"
_CHILDREN: list[subprocess.Popen[bytes]] = []
"""Workers of this process; collected when they end, so that none stays behind as a zombie."""


def start(
    verb: str,
    arguments: Mapping[str, Any],
    jobs_dir: str | Path,
    *,
    verbs: Mapping[str, Verb] = VERBS,
) -> str:
    """Start a verb as a process of its own and return at once.

    Args:
        verb: A name in `verbs`.
        arguments: Its keyword arguments, plain data. If the verb uses a device, `device` among
            them says which ("auto" if it is not there), and the job waits for earlier ones there.
        jobs_dir: Where jobs are kept; made if it does not exist.
        verbs: The verbs there are, by name.

    Returns:
        The job's id.

    Raises:
        InvalidInputError: There is no such verb or device, or the arguments are not plain data.
        StoreError: The disk failed.
    """
    if verb not in verbs:
        raise InvalidInputError(f"there is no verb {verb!r}; choose one of {', '.join(verbs)}")
    try:
        plain = json.loads(to_json(dict(arguments)))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"arguments of {verb} must be plain data: {error}") from error
    named = str(plain.get("device") or "auto")
    device = resolve_device(named) if verbs[verb].uses_device else None
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    job_id = f"{stamp}-{verb}-{secrets.token_hex(3)}"
    directory = Path(jobs_dir).resolve() / job_id
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        raise StoreError(f"{directory} could not be made: {error.strerror}") from error
    write_job(directory, verb, plain, device)
    with turn(directory / ".turn"):
        _spawn(directory, verbs[verb].target, device, attempt=1)
    return job_id


def list_jobs(jobs_dir: str | Path) -> tuple[Job, ...]:
    """All jobs, newest first; a damaged one is listed as lost, with the reason."""
    _collect()
    folder = Path(jobs_dir)
    names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    jobs: list[Job] = []
    for name in names:
        try:
            jobs.append(read_job(folder, name))
        except MissingInputError:  # not a job
            continue
        except FormatError as error:
            jobs.append(damaged_job(folder / name, error))
    return tuple(sorted(jobs, key=lambda job: job.created, reverse=True))


def read_job(jobs_dir: str | Path, job_id: str) -> Job:
    """One job as it stands now.

    Raises:
        MissingInputError: There is no such job.
        FormatError: Its files are damaged.
    """
    _collect()
    return _read_job(job_directory(Path(jobs_dir), job_id))


def stop(jobs_dir: str | Path, job_id: str, *, grace: float = 20.0) -> Job:
    """Stop a job: at its next report, or by force after `grace` seconds. Returns when it ended.

    What it had finished stays; `resume` goes on from there. A job that is over stays as it is.

    Raises:
        MissingInputError: There is no such job.
    """
    directory = job_directory(Path(jobs_dir), job_id)
    with turn(directory / ".turn"):  # a process that is just being made is stopped as well
        process = read_process(directory)
    asked = read_job(jobs_dir, job_id)
    if process is None or asked.state.over:
        return asked
    process.send(signal.SIGTERM)
    if not process.wait(grace):
        process.kill_group()
        process.wait(grace)
    job = read_job(jobs_dir, job_id)
    resumed = job.attempts != asked.attempts  # by somebody else, as soon as it had ended
    if job.ended is None and not process.alive and not resumed:  # killed before it could say so
        append_event(directory, "stopped", job.attempts, started=job.started, killed=True)
    return read_job(jobs_dir, job_id)


def resume(jobs_dir: str | Path, job_id: str, *, verbs: Mapping[str, Verb] = VERBS) -> Job:
    """Start a job that is over once more, with the same arguments; verbs skip what is done.

    Raises:
        MissingInputError: There is no such job.
        InvalidInputError: It is still at work, or its verb is unknown.
    """
    directory = job_directory(Path(jobs_dir).resolve(), job_id)
    with turn(directory / ".turn"):  # two resumes must not start it twice
        job = read_job(jobs_dir, job_id)
        if not job.state.over:
            raise InvalidInputError(f"job {job_id} is {job.state}; stop it before resuming it")
        if job.verb not in verbs:
            raise InvalidInputError(f"job {job_id} is of an unknown verb {job.verb!r}")
        device = None if job.device is None else resolve_device(job.device)
        # The code to run comes from the registry, never from the job's own files.
        _spawn(directory, verbs[job.verb].target, device, attempt=job.attempts + 1)
    return read_job(jobs_dir, job_id)


def _spawn(directory: Path, target: str, device: str | None, attempt: int) -> None:
    append_event(directory, "queued", attempt)
    command = [sys.executable, "-P", "-m", _WORKER, str(directory), str(attempt), target]
    descriptors: list[int] = []
    if device is not None:
        ticket, descriptor = draw_ticket(directory.parent, device)
        command += [str(ticket), str(descriptor)]
        descriptors.append(descriptor)
    # The worker finds the package where we found it, also in a checkout that is not installed.
    paths = [str(Path(hara_viz.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    try:
        with (directory / OUTPUT).open("ab") as output:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=read_working_directory(directory),
                pass_fds=descriptors,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    _CHILDREN.append(process)
    write_process(directory, ProcessId(process.pid, start_time(process.pid) or ""))


def _collect() -> None:
    _CHILDREN[:] = [process for process in _CHILDREN if process.poll() is None]
