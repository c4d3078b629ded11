"""From the import form to a job: names, places, and what a browser may send."""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.errors import InvalidInputError, UnsafeError
from hara_viz.ui.finder import find_dumps
from hara_viz.ui.import_jobs import ImportWish, file_name, job_of, keep_uploads
from hara_viz.ui.roots import Roots
from tests.importers.dumps import QUESTION, trl_group, write_lines, write_trl


@pytest.fixture
def places(tmp_path: Path) -> Roots:
    (tmp_path / "runs").mkdir()
    return Roots(tmp_path / "runs", (tmp_path,), tmp_path / "jobs")


def test_a_job_from_what_was_filled_in(places: Roots, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "set.jsonl").write_text("{}")
    dump = tmp_path / "grpo-7b" / "completions"
    wish = ImportWish(source=dump, model="model", problems="set.jsonl", threshold=0.25)
    job = job_of(wish, places)
    assert (job.source, job.out) == (dump, tmp_path / "runs" / "grpo-7b-imported")
    assert (job.model, job.problems) == (str(tmp_path / "model"), tmp_path / "set.jsonl")
    assert (job.success_threshold, job.roots) == (0.25, (tmp_path,))


def test_names_never_collide_or_leave_the_runs_folder(places: Roots, tmp_path: Path) -> None:
    dump = tmp_path / "grpo"
    for number in ("", "-2"):
        job = job_of(ImportWish(source=dump), places)
        assert job.out.name == f"grpo-imported{number}"
        job.out.mkdir()
    with pytest.raises(InvalidInputError, match="already"):
        job_of(ImportWish(source=dump, name="grpo-imported"), places)
    for name in ("../x", "/etc", "a/b", "."):
        with pytest.raises(InvalidInputError, match="folder's"):
            job_of(ImportWish(source=dump, name=name), places)


def test_paths_stay_below_the_allowed_folders(places: Roots, tmp_path: Path) -> None:
    for field in ("model", "problems"):
        with pytest.raises(UnsafeError, match="--root"):
            job_of(ImportWish(source=tmp_path, **{field: "/etc/hostname"}), places)


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


def test_dumps_are_found_by_their_names(places: Roots, tmp_path: Path) -> None:
    write_trl(tmp_path / "out", 1, trl_group(QUESTION, [1, 0]))
    write_lines(tmp_path / "verl" / "30.jsonl", [{}])
    write_lines(tmp_path / "run" / "rollouts2" / "traces.jsonl", [{}])
    write_lines(tmp_path / "problems" / "train.jsonl", [{}])
    found = [str(path.relative_to(tmp_path)) for path in find_dumps(places)]
    assert found == ["out/completions", "run/rollouts2", "verl"]
