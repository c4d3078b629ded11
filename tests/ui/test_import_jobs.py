"""From the import form to a job: names, places, and what a browser may send."""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.errors import InvalidInputError, UnsafeError
from hara_viz.ui.finder import find_dumps
from hara_viz.ui.import_jobs import ImportWish, job_of
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


def test_dumps_are_found_by_their_names(places: Roots, tmp_path: Path) -> None:
    write_trl(tmp_path / "out", 1, trl_group(QUESTION, [1, 0]))
    write_lines(tmp_path / "verl" / "30.jsonl", [{}])
    write_lines(tmp_path / "run" / "rollouts2" / "traces.jsonl", [{}])
    write_lines(tmp_path / "problems" / "train.jsonl", [{}])
    found = [str(path.relative_to(tmp_path)) for path in find_dumps(places)]
    assert found == ["out/completions", "run/rollouts2", "verl"]
