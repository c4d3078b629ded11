from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def app_runs(small_runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The app shows the small runs and may look nowhere else."""
    monkeypatch.setenv("HARA_VIZ_RUNS", str(small_runs))
    monkeypatch.setenv("HARA_VIZ_ROOTS", str(small_runs))
    return small_runs
