"""Fixtures shared by the rooms."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The models and matrices of the tests are tiny: threads that wait for each other on a busy machine
# cost a hundred times what they save. Set before torch is first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Streamlit's AppTest leaves the app as `__main__`, which processes started later would run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def tiny_policy_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random Llama checkpoint with a chat template and two EOS ids (loads in no time)."""
    from tests.tiny_models import write_tiny_checkpoint

    return write_tiny_checkpoint(tmp_path_factory.mktemp("models") / "tiny-llama")


@pytest.fixture(scope="session")
def small_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A runs folder: "small" (three groups, two layers), "no-states", and "broken"."""
    from tests.small_runs import write_runs

    return write_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def small_run(small_runs: Path) -> Path:
    """One small finished run: a mixed group, one with hostile text, one all wrong."""
    return small_runs / "small"
