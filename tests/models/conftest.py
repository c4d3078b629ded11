"""Loaded tiny policies, once a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hara_viz.models import Policy, SampleRequest, load_policy, render_prompt
from hara_viz.types import Message, SamplingConfig
from tests.tiny_models import write_tiny_checkpoint

FAMILIES = ("llama", "gpt2", "qwen2", "mistral", "gemma3", "mamba", "lfm2", "qwen3_next")
QUESTIONS = ("3 + 4?", "What is 12 times 3, and why is that so?", "A? é🙂", "Add " + "7 and " * 30)


@pytest.fixture(scope="session")
def family_dirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One checkpoint a family; the sliding windows (mistral, gemma3) are shorter than prompts."""
    root = tmp_path_factory.mktemp("families")
    return {f: write_tiny_checkpoint(root / f, family=f, bos=f == "gemma3") for f in FAMILIES}


@pytest.fixture(scope="session")
def policies(family_dirs: dict[str, Path]) -> dict[str, Policy]:
    return {family: load_policy(path, device="cpu") for family, path in family_dirs.items()}


@pytest.fixture(params=FAMILIES)
def policy(request: pytest.FixtureRequest, policies: dict[str, Policy]) -> Policy:
    """Each family in turn."""
    return policies[request.param]


@pytest.fixture
def llama(policies: dict[str, Policy]) -> Policy:
    return policies["llama"]


@pytest.fixture
def make_requests() -> Callable[..., list[SampleRequest]]:
    """Requests for the first questions of QUESTIONS, `group_size` rollouts each."""

    def build(policy: Policy, sampling: SamplingConfig, n_problems: int = 4) -> list[SampleRequest]:
        return [
            SampleRequest(
                f"problem-{p}", 0, s, render_prompt(policy, [Message("user", q)], sampling)
            )
            for p, q in enumerate(QUESTIONS[:n_problems])
            for s in range(sampling.group_size)
        ]

    return build
