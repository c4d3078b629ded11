"""What is on disk of a job: `job.json`, `pid`, `events.jsonl`, and what state that amounts to."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hara_viz.backend.processes import ProcessId
from hara_viz.errors import FormatError, HaraError, MissingInputError
from hara_viz.store.files import write_text
from hara_viz.store.text_json import to_json

if TYPE_CHECKING:
    from hara_viz.types import Progress

OUTPUT = "output.log"
"""What the worker printed: tracebacks and warnings."""
_JOB, _PID, _EVENTS = "job.json", "pid", "events.jsonl"
_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[a-z_]+-[0-9a-f]{6}")
_TAIL = 1 << 16
_SPAWN_SECONDS = 10.0


class JobState(StrEnum):
    """How a job stands."""

    QUEUED = "queued"
    """Waiting for its device, or starting."""
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    """See `Job.error`."""
    STOPPED = "stopped"
    """By `stop`; it can be resumed."""
    LOST = "lost"
    """The process died without a word (killed, out of memory, reboot); it can be resumed."""

    @property
    def over(self) -> bool:
        """Whether no process is at work."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """The last report of a job, and what follows from it."""

    progress: Progress
    rate: float | None
    """Units per second within the stage; None until it is known."""
    seconds_left: float | None
    """Of the stage."""
    time: float
    """When it was reported, seconds since 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as it stood when it was read."""

    id: str
    directory: Path
    verb: str
    arguments: Mapping[str, Any]
    device: str | None
    """The device it queues for; None: it needs none."""
    created: float
    """Seconds since 1970, as all times here."""
    state: JobState
    started: float | None = None
    """When the last attempt got its device."""
    ended: float | None = None
    attempts: int = 1
    last: JobProgress | None = None
    """None: nothing reported in this attempt."""
    error: str | None = None
    """One sentence, if it failed."""
    result: Any = None
    """What the verb returned, if that is plain data."""


def write_job(directory: Path, verb: str, arguments: Mapping[str, Any], device: str | None) -> None:
    """Write `job.json`, which makes the directory a job."""
    document = {
        "verb": verb,
        "arguments": dict(arguments),
        "device": device,
        "working_directory": str(Path.cwd()),  # relative paths in the arguments count from it
        "created": time.time(),
    }
    write_text(directory / _JOB, to_json(document, indent=2) + "\n")


def write_process(directory: Path, process: ProcessId) -> None:
    """Write the pid file."""
    write_text(directory / _PID, to_json(asdict(process)) + "\n")


def append_event(directory: Path, event: str, attempt: int, **values: Any) -> None:
    """Append one line to the event stream, in one write.

    Each line names its attempt, so that the end of the stream alone tells how the job stands.
    """
    line = to_json({"time": time.time(), "event": event, "attempt": attempt, **values}) + "\n"
    with (directory / _EVENTS).open("ab", buffering=0) as file:
        file.write(line.encode())


def progress_values(
    progress: Progress, rate: float | None, seconds_left: float | None
) -> dict[str, Any]:
    """A report as values of a "progress" event; figures that are not finite become null."""
    figures = {n: v if math.isfinite(v) else None for n, v in progress.figures.items()}
    return {**asdict(progress), "figures": figures, "rate": rate, "seconds_left": seconds_left}


def job_directory(jobs_dir: Path, job_id: str) -> Path:
    """Where a job lies.

    Raises:
        MissingInputError: There is no such job.
    """
    directory = jobs_dir / job_id
    if not _ID.fullmatch(job_id) or not (directory / _JOB).is_file():
        raise MissingInputError(
            f"there is no job {job_id!r} in {jobs_dir}; `hara-viz jobs` lists them"
        )
    return directory


def read_arguments(directory: Path) -> dict[str, Any]:
    """The keyword arguments of a job."""
    return dict(_read_json(directory / _JOB)["arguments"])


def read_working_directory(directory: Path) -> Path | None:
    """Where the job was started, if that still exists."""
    path = Path(str(_read_json(directory / _JOB).get("working_directory", "")))
    return path if path.is_dir() else None


def read_process(directory: Path) -> ProcessId | None:
    """The process that was started last; None if none was."""
    try:
        return ProcessId(**_read_json(directory / _PID))
    except (MissingInputError, TypeError):
        return None


def read_job(directory: Path) -> Job:
    """A job with its state.

    Raises:
        FormatError: Its files are damaged.
    """
    document = _read_json(directory / _JOB)
    events = _parse(_tail(directory / _EVENTS))
    attempt = events[-1]["attempt"] if events else 1
    of_attempt = [event for event in events if event["attempt"] == attempt]
    report = next((e for e in reversed(of_attempt) if e["event"] == "progress"), None)
    ending = next((e for e in of_attempt if e["event"] in ("done", "failed", "stopped")), None)
    started = next((e["started"] for e in of_attempt if e.get("started") is not None), None)
    try:
        return Job(
            id=directory.name,
            directory=directory,
            verb=document["verb"],
            arguments=document["arguments"],
            device=document["device"],
            created=document["created"],
            state=_state(directory, of_attempt, ending, started),
            started=started,
            ended=None if ending is None else ending["time"],
            attempts=attempt,
            last=None if report is None else _job_progress(report),
            error=None if ending is None else ending.get("error"),
            result=None if ending is None else ending.get("result"),
        )
    except (KeyError, TypeError) as error:
        raise FormatError(f"{directory} is a damaged job ({error}); remove it") from error


def read_events(directory: Path) -> list[dict[str, Any]]:
    """All events in order, for charts; lines torn by a crash are left out."""
    path = directory / _EVENTS
    return _parse(path.read_bytes()) if path.exists() else []


def damaged_job(directory: Path, error: HaraError) -> Job:
    """Stands in a list for a job whose files cannot be read."""
    return Job(
        id=directory.name,
        directory=directory,
        verb="unknown",
        arguments={},
        device=None,
        created=directory.stat().st_mtime,
        state=JobState.LOST,
        error=str(error),
    )


def _tail(path: Path) -> bytes:
    """The end of the event stream; of a long job, the bulk is old progress."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            return file.read()
    except FileNotFoundError:
        return b""


def _parse(lines: bytes) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for line in lines.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and {"event", "time", "attempt"} <= event.keys():
            events.append(event)
    return events


def _state(
    directory: Path,
    events: list[dict[str, Any]],
    ending: dict[str, Any] | None,
    started: float | None,
) -> JobState:
    if ending is not None:
        return JobState(ending["event"])
    process = read_process(directory)
    if process is not None and process.alive:
        return JobState.QUEUED if started is None else JobState.RUNNING
    # Between the line "queued" and the pid file the process is just being made.
    just_now = bool(events) and events[-1]["event"] == "queued"
    just_now = just_now and time.time() - events[-1]["time"] < _SPAWN_SECONDS
    return JobState.QUEUED if just_now else JobState.LOST


def _job_progress(event: Mapping[str, Any]) -> JobProgress:
    from hara_viz.types import Progress  # with it comes torch, which a list of jobs may not need

    figures = {n: math.nan if v is None else v for n, v in event["figures"].items()}
    return JobProgress(
        progress=Progress(
            stage=event["stage"],
            done=event["done"],
            total=event["total"],
            unit=event["unit"],
            figures=figures,
        ),
        rate=event["rate"],
        seconds_left=event["seconds_left"],
        time=event["time"],
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise MissingInputError(f"{path} is missing") from None
    except (OSError, ValueError) as error:
        raise FormatError(f"{path} is damaged ({error}); remove the job") from error
    if not isinstance(document, dict):
        raise FormatError(f"{path} holds no JSON object; remove the job")
    return document
