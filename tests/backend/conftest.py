"""A run that was really sampled, from a tiny checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from hara_viz.backend.sample import SampleJob, sample_run
from hara_viz.types import SamplingConfig

PROBLEMS = Path(__file__).parents[1] / "data" / "word_problems.jsonl"


def tiny_job(model: Path, out: Path, **changes: object) -> SampleJob:
    """A job of seconds: three problems, two rollouts each."""
    values = {
        "model": str(model),
        "problems": PROBLEMS,
        "out": out,
        "limit": 3,
        "sampling": SamplingConfig(group_size=2, max_new_tokens=6),
        "reward": "number",
        "device": "cpu",
        **changes,
    }
    return SampleJob(**values)  # pyright: ignore[reportArgumentType]


@pytest.fixture(scope="session")
def tiny_run(tiny_policy_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; tests that change it take a copy."""
    return sample_run(tiny_job(tiny_policy_dir, tmp_path_factory.mktemp("runs") / "tiny"))
