"""`hara-viz compare`: what it prints, and the report that it writes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compared_runs import write_compared
from tests.small_runs import HOSTILE

HARA = [sys.executable, "-m", "hara_viz.cli"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_compared(tmp_path_factory.mktemp("compared"))


def compare(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*HARA, "compare", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=300,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "120", "OMP_NUM_THREADS": "1"},
    )


def test_it_prints_curves_tests_and_problems(folder: Path) -> None:
    done = compare(folder / "early", folder / "late")
    assert done.returncode == 0, done.stderr
    assert "33.3 %" in done.stdout and "pass@3" in done.stdout
    assert "late · step 10 against early · step 0" in done.stdout
    assert "0 solved, 0 lost of 3 problems, exact McNemar p = 1" in done.stdout
    assert "pass@1 +0.194" in done.stdout


def test_k_and_the_rule_are_taken(folder: Path) -> None:
    done = compare(folder / "early", folder / "late", "--k", 2, "--solved", "any")
    assert done.returncode == 0 and "pass@2" in done.stdout


@pytest.mark.slow
def test_the_report_holds_the_token_level_and_no_live_model_text(folder: Path, tmp_path) -> None:
    out = tmp_path / "report.html"
    runs = [folder / name for name in ("early", "late", "stranger")]
    done = compare(*runs, "--tokens", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "barycenters moved" in done.stdout and "share of the weight" in done.stdout
    page = out.read_text(encoding="utf-8")
    for title in ("Learning curves", "Drift of barycenters", "Credit methods"):
        assert f"<h2>{title}" in page
    assert HOSTILE.messages[0].content not in page
    assert "<script" not in page and "&lt;img src=x onerror=" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--k", "9"], "k is 9; it must be from 1 to 3"),
        (["--solved", "most"], "it must be half, any or all"),
        (["--out", "/nowhere/at/all.html"], "name a file in a folder that exists"),
    ],
)
def test_bad_input_is_one_sentence(folder: Path, words: list[str], sentence: str) -> None:
    done = compare(folder / "early", *words)
    assert done.returncode == 2
    assert sentence in done.stderr and "Traceback" not in done.stderr
    assert len(re.findall(r"^hara-viz:", done.stderr, re.MULTILINE)) == 1


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    done = compare(tmp_path)
    assert done.returncode == 2 and "run.json" in done.stderr
