"""Dropped files: what a browser may send, and that they go when no job needs them any more."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hara_viz.backend import jobs
from hara_viz.backend.jobs import JobState, Verb
from hara_viz.errors import InvalidInputError
from hara_viz.ui.uploads import KEPT_SECONDS, UPLOADS, clear_uploads, file_name, keep_uploads

VERBS = {
    "import": Verb("tests.ui.import_verb:done_at_once"),
    "failing": Verb("tests.ui.import_verb:refused"),
}
FILES = {"1.jsonl": b"one", "2.jsonl": b"two"}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("completions_00012.parquet", "completions_00012.parquet"),
        ("../../../etc/passwd.jsonl", "passwd.jsonl"),
        ("C:\\temp\\12.jsonl", "12.jsonl"),
        (".jsonl", "dump.jsonl"),
        ("..", "dump."),
        ("<b>x</b>.jsonl", "b.jsonl"),
        ("a\x00b.jsonl", "a-b.jsonl"),
        ("x" * 500 + ".jsonl", "x" * 120 + ".jsonl"),
    ],
)
def test_a_sent_name_is_no_path(sent: str, kept: str) -> None:
    assert file_name(sent) == kept


def test_uploads_are_kept_once_by_content(tmp_path: Path) -> None:
    folder = tmp_path / "uploads"
    files = {"../1.jsonl": b"one", "2.jsonl": b"two"}
    place = keep_uploads(files, folder)
    assert place.parent == folder
    assert {path.name: path.read_bytes() for path in place.iterdir()} == {
        "1.jsonl": b"one", "2.jsonl": b"two",
    }  # fmt: skip
    assert keep_uploads(files, folder) == place
    assert keep_uploads({**files, "2.jsonl": b"other"}, folder) != place
    with pytest.raises(InvalidInputError, match="same name"):
        keep_uploads({"a/1.jsonl": b"", "b/1.jsonl": b""}, folder)


@pytest.fixture
def jobs_dir(tmp_path: Path) -> Path:
    return tmp_path / "jobs"


def import_of(place: Path, jobs_dir: Path, verb: str = "import") -> JobState:
    """A job over these files, over."""
    job_id = jobs.start(verb, {"source": str(place)}, jobs_dir, verbs=VERBS)
    deadline = time.monotonic() + 60
    while not (job := jobs.read_job(jobs_dir, job_id)).state.over:
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
    return job.state


def left(jobs_dir: Path) -> list[str]:
    return sorted(path.name for path in (jobs_dir / UPLOADS).iterdir())


def test_files_go_when_their_import_is_done(jobs_dir: Path) -> None:
    place = keep_uploads(FILES, jobs_dir / UPLOADS)
    other = keep_uploads({"3.jsonl": b"three"}, jobs_dir / UPLOADS)
    assert clear_uploads(jobs_dir) == (), "nobody has imported them yet"
    assert import_of(place, jobs_dir) is JobState.DONE
    assert clear_uploads(jobs_dir) == (place,)
    assert left(jobs_dir) == [other.name, f"{other.name}.used"]
    assert clear_uploads(jobs_dir) == ()


def test_files_that_are_dropped_again_stay_for_the_next_import(jobs_dir: Path) -> None:
    place = keep_uploads(FILES, jobs_dir / UPLOADS)
    import_of(place, jobs_dir)
    assert keep_uploads(FILES, jobs_dir / UPLOADS) == place
    assert clear_uploads(jobs_dir) == ()
    assert clear_uploads(jobs_dir, now=time.time() + KEPT_SECONDS + 1) == (place,)


def test_an_import_that_can_be_resumed_keeps_its_files(jobs_dir: Path) -> None:
    place = keep_uploads(FILES, jobs_dir / UPLOADS)
    import_of(place, jobs_dir)
    assert import_of(place, jobs_dir, "failing") is JobState.FAILED
    assert clear_uploads(jobs_dir, now=time.time() + 10 * KEPT_SECONDS) == ()
    assert (place / "1.jsonl").read_bytes() == b"one"


def test_files_that_no_job_knows_go_after_a_day(jobs_dir: Path) -> None:
    place = keep_uploads(FILES, jobs_dir / UPLOADS)
    assert clear_uploads(jobs_dir, now=time.time() + KEPT_SECONDS - 60) == ()
    assert clear_uploads(jobs_dir, now=time.time() + KEPT_SECONDS + 60) == (place,)
    assert left(jobs_dir) == []


def test_nothing_else_is_touched(jobs_dir: Path, tmp_path: Path) -> None:
    uploads = jobs_dir / UPLOADS
    (uploads / "notes").mkdir(parents=True)
    (uploads / "0123456789abcdef.txt").write_text("mine")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.jsonl").write_text("mine")
    (uploads / "fedcba9876543210").symlink_to(tmp_path / "data")
    real = keep_uploads(FILES, uploads)
    (real / "out").symlink_to(tmp_path / "data")
    for path in (uploads / "notes", real, uploads / f"{real.name}.used"):
        os.utime(path, (0, 0))
    assert clear_uploads(jobs_dir) == (real,)
    assert left(jobs_dir) == ["0123456789abcdef.txt", "fedcba9876543210", "notes"]
    assert (tmp_path / "data" / "train.jsonl").read_text() == "mine"


def test_without_uploads_no_job_is_read(tmp_path: Path) -> None:
    assert clear_uploads(tmp_path / "jobs") == ()
    assert not (tmp_path / "jobs").exists()
