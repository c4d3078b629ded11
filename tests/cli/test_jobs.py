"""`hara-viz jobs` on real jobs."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hara_viz.backend import jobs
from hara_viz.cli.frame import app


def hara_viz(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["jobs", *arguments], env={"COLUMNS": "140", "NO_COLOR": "1"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARA_VIZ_JOBS", str(tmp_path / "jobs"))
    return tmp_path / "jobs"


def wait(folder: Path, name: str) -> jobs.Job:
    while not (job := jobs.read_job(folder, name)).state.over:
        time.sleep(0.1)
    return job


def test_an_empty_list_says_so(folder: Path) -> None:
    shown = hara_viz()
    assert shown.exit_code == 0
    assert shown.stdout == f"there are no jobs in {folder}\n"


def test_jobs_are_listed_and_resumed(folder: Path, small_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(small_run, tmp_path / "run")
    good = jobs.start("credit", {"run": str(run)}, folder)
    bad = jobs.start("credit", {"run": str(tmp_path / "none")}, folder)
    assert wait(folder, good).state == "done"
    assert wait(folder, bad).state == "failed"
    shown = hara_viz("list").stdout
    assert [line.split()[:2] for line in shown.splitlines()[1:]][-1] == [good, "done"]
    assert "credit 3/3 groups" in shown
    assert "does not exist" in shown
    shutil.copytree(small_run, tmp_path / "none")
    assert hara_viz("resume", bad).exit_code == 0
    assert wait(folder, bad).state == "done"
    # A job that is over stays as it is.
    assert f"{good} is done" in hara_viz("stop", good).stdout


def test_unknown_and_ambiguous_ids_are_bad_input(folder: Path, small_run: Path) -> None:
    assert hara_viz("stop", "2000").exit_code == 2
    for _ in range(2):
        wait(folder, jobs.start("score", {"run": str(small_run), "reward": "vibes"}, folder))
    shown = hara_viz("resume", "2")
    assert shown.exit_code == 2
    assert "beginning of 2 jobs" in shown.stderr
