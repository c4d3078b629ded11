"""Ctrl-C: exit code 130, no traceback, a sentence on what is kept; the same command goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hara_viz.store import open_run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROBLEMS = ROOT / "tests" / "data" / "word_problems.jsonl"


def start(model: Path, out: Path, tokens: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hara_viz.cli", "sample", "--model", str(model), "--problems",
         str(PROBLEMS), "--out", str(out), "--group-size", "2", "--max-new-tokens", str(tokens),
         "--reward", "number", "--deterministic", "--device", "cpu"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
        # A shell that starts tests in the background makes them deaf to Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def test_ctrl_c_keeps_what_is_done_and_says_so(tiny_policy_dir: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start(tiny_policy_dir, out, 200)
    assert process.stderr is not None
    while not list(out.glob("rollouts/part-*.parquet")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    assert process.wait(60) == 130
    assert "Traceback" not in said
    kept = len(open_run(out).keys())
    assert 0 < kept < 8
    assert said.splitlines()[-1] == (
        f"hara-viz: stopped; {kept} groups are kept in {out}, the same command goes on from there"
    )
    again = start(tiny_policy_dir, out, 200)
    assert again.stderr is not None
    said = again.stderr.read()
    assert again.wait(300) == 0, said
    assert f"sampling {2 * kept}/16" in said
    assert len(open_run(out).keys()) == 8


def test_ctrl_c_before_anything_was_written(tiny_policy_dir: Path, tmp_path: Path) -> None:
    process = start(tiny_policy_dir, tmp_path / "run", 200)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("loading")
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    assert process.wait(60) == 130
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "hara-viz: stopped; nothing was written"
    assert not (tmp_path / "run").exists()
