"""A run that breaks while it is shown: the page says what and where, never a bare exception."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.small_runs import PENS
from tests.ui.apptest import checked, open_app

LINK = {"run": "small", "problem": PENS.problem_id, "rollout": "4", "token": "1"}
PAGES = ("rollouts", "transport", "embedding", "training", "learn", "compare", "runs")


@pytest.fixture
def run(small_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of our own to break, as the app shows it."""
    shutil.copytree(small_runs / "small", tmp_path / "small")
    monkeypatch.setenv("HARA_VIZ_RUNS", str(tmp_path))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(tmp_path))
    return tmp_path / "small"


def cut(run: Path, pattern: str) -> None:
    found = [path for path in run.glob(pattern) if path.is_file()]
    assert found, pattern
    for path in found:
        path.write_bytes(path.read_bytes()[:100])


@pytest.mark.parametrize("page", ["transport", "embedding"])
def test_states_that_were_cut_short_are_named(run: Path, page: str) -> None:
    open_app(LINK)  # the credit is known before the states are lost
    cut(run, "states/**/*.safetensors")
    at = open_app(LINK, page=f"pages/{page}.py")
    assert any("safetensors is damaged" in error.value for error in at.error)


def test_a_text_can_be_read_without_its_states(run: Path) -> None:
    at = open_app(LINK)
    cut(run, "states/**/*.safetensors")
    checked(at.run())
    assert any("safetensors is damaged" in error.value for error in at.error)
    assert any(element.key == "heatmap" for element in at.get("bidi_component"))


@pytest.mark.parametrize("page", PAGES)
def test_rollouts_that_were_cut_short_are_no_exception(run: Path, page: str) -> None:
    cut(run, "rollouts/*")
    open_app(LINK, page=f"pages/{page}.py")
